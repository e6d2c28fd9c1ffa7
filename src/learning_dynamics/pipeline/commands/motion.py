"""Draw a figure that moves from parquet alone: an animated WebP, stamp and facts in its metadata."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import ExifTags, Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.functions import error_context
from learning_dynamics.pipeline.commands.planned import find_job
from learning_dynamics.pipeline.commands.roles import draw
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.stamps import KEY, plain_facts
from learning_dynamics.plotting import legible_ticks, style
from learning_dynamics.plotting.motion import Motion

MAX_BYTES = 500_000  # of a film; chosen
LAST_FRAME_TIME = 1500  # milliseconds for which the last frame stays
COLOURS = 64  # of all frames together


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Call the motion's function with its runs' tables by role and save what it draws."""
    job = find_job("motion", paper, name, plan=plan, planned_fingerprint=fingerprint, files=files)
    with matplotlib_defaults(), style():
        motion, record = draw(job)
        with error_context(f"motion {name}", record["settings"]):
            frames = render_frames(motion)
        described = json.dumps({KEY: record | {"facts": plain_facts(motion.facts), "alt": motion.alt}})
        with atomic_write(job.output) as partial:
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
    """Return frames as an animated WebP that repeats.

    All have one palette: with palettes of their own, what does not move would flicker.

    Raises
    ------
    ProjectError
        If it is larger than `MAX_BYTES`.
    """
    step = round(1000 * seconds / len(frames))
    exif = Image.Exif()
    exif[ExifTags.Base.ImageDescription] = described
    width, height = frames[0].size
    strip = Image.new("RGB", (width, height * len(frames)))
    for number, frame in enumerate(frames):
        strip.paste(frame, (0, number * height))
    strip = strip.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).convert("RGB")
    first, *rest = (strip.crop((0, top, width, top + height)) for top in range(0, strip.height, height))
    buffer = io.BytesIO()
    first.save(
        buffer,
        "WEBP",
        save_all=True,
        append_images=rest,
        duration=[step] * len(rest) + [step + LAST_FRAME_TIME],
        loop=0,
        lossless=True,
        quality=60,
        method=4,
        minimize_size=True,
        exif=exif,
    )
    if buffer.tell() > MAX_BYTES:
        raise ProjectError(
            f"{label}: takes {buffer.tell() / 1000:.0f} kB, at most {MAX_BYTES / 1000:.0f} are shown; "
            "let less of it move"
        )
    return buffer.getvalue()
