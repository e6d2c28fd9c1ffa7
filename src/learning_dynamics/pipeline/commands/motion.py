"""Draw a figure that moves from parquet alone: an animated WebP, provenance and facts in its metadata."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from PIL import ExifTags, Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.functions import error_context
from learning_dynamics.pipeline.commands.roles import draw
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.provenance import KEY, plain_facts
from learning_dynamics.plotting import legible_ticks, style
from learning_dynamics.plotting.motion import Motion

MAX_BYTES = 500_000
LAST_FRAME_TIME = 1500  # milliseconds for which the last frame stays
COLOURS = (64, 32, 16)  # from fine to coarse


def execute(
    paper: str,
    name: str,
    /,
    spec: Mapping[str, Any] | None = None,
    metrics: Path | None = None,
    out: Path | None = None,
    fingerprint: str | None = None,
) -> None:
    """Call the motion's function with its runs' tables by role and save what it draws.

    What is not given is the configuration's.
    """
    out = out or Path("figures", paper, f"{name}.webp")
    with matplotlib_defaults(), style():
        motion, record = draw("motion", paper, name, spec, metrics, fingerprint)
        with error_context(f"motion {name}", record["settings"]):
            frames = render_frames(motion)
        described = json.dumps({KEY: record | {"facts": plain_facts(motion.facts), "alt": motion.alt}})
        with atomic_write(out) as partial:
            partial.write_bytes(encode_webp(frames, motion.seconds, described, f"motion {name}"))


def render_frames(motion: Motion) -> list[Image.Image]:
    """Return every frame; the figure's layout is settled on the last and then stays."""
    figure = motion.figure
    figure.set_dpi(plt.rcParams["savefig.dpi"])
    motion.draw(motion.frames - 1)
    legible_ticks(figure)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    frames = []
    for number in range(motion.frames):
        motion.draw(number)
        figure.canvas.draw()
        frames.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB"))  # type: ignore[attr-defined]
    plt.close(figure)
    return frames


def encode_webp(frames: Sequence[Image.Image], seconds: float, described: str, label: str) -> bytes:
    """Return frames as an animated WebP that repeats, in one palette, of as many colours as fit into `MAX_BYTES`.

    Raises
    ------
    ProjectError
        If it is larger even in few colours.
    """
    step = round(1000 * seconds / len(frames))
    durations = [step] * (len(frames) - 1) + [step + LAST_FRAME_TIME]
    exif = Image.Exif()
    exif[ExifTags.Base.ImageDescription] = described
    for colours in COLOURS:
        images = _in_one_palette(frames, colours)
        buffer = io.BytesIO()
        images[0].save(
            buffer,
            "WEBP",
            save_all=True,
            append_images=images[1:],
            duration=durations,
            loop=0,
            lossless=True,
            quality=60,
            method=4,
            minimize_size=True,
            exif=exif,
        )
        if buffer.tell() <= MAX_BYTES:
            return buffer.getvalue()
    raise ProjectError(
        f"{label}: takes {buffer.tell() / 1000:.0f} kB, at most {MAX_BYTES / 1000:.0f} are shown; let less of it move"
    )


def _in_one_palette(frames: Sequence[Image.Image], colours: int) -> list[Image.Image]:
    """Return frames in colours that all share: with palettes of their own, what stands still would flicker."""
    packed = [np.asarray(frame, dtype=np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32) for frame in frames]
    unique_colours = np.unique(np.concatenate([np.unique(frame) for frame in packed]))
    all_colours = np.stack([unique_colours >> 16, unique_colours >> 8 & 255, unique_colours & 255], axis=-1).astype(
        np.uint8
    )
    palette = Image.fromarray(all_colours[None]).quantize(
        colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB") for frame in frames]
