"""Figures as the page and the published results carry them, in the colours that they are drawn in: as WebP or SVG."""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
from markupsafe import Markup
from PIL import Image

from learning_dynamics.pipeline.store.pictures import read_png
from learning_dynamics.pipeline.store.stamps import read_bytes

PIXELS_PER_INCH = 96  # CSS's
POINTS_PER_INCH = 72
# Figures are shown a little above their printed size: at their 220 dots an inch, two pixels of the file make one of the
# page, 220 / (96 * 1.15) to be exact.
ENLARGEMENT = 1.15
MAX_VECTOR_BYTES = 150_000  # bytes of a figure that is shown as SVG
RARE = 1e-4  # share of the pixels: a colour that fewer have is of a line's smoothed edge
STEP = 8  # of 0 to 255: rare colours are rounded to its multiples, by 4 at most, which no eye sees
MARGIN = 0.008  # of a figure's width, around panels that are shown alone

Box = tuple[float, float, float, float]  # left, top, right, bottom, as shares of the figure


@dataclass(frozen=True)
class Picture:
    """A compressed image and the size to show it at, in CSS pixels."""

    data: bytes
    kind: str  # of a MIME type, after the slash: webp or svg+xml
    width: int
    height: int

    @property
    def uri(self) -> Markup:
        """The image as a data URI, for use between double quotes."""
        if self.kind == "svg+xml":  # text stays text: a quarter shorter than base64
            return Markup("data:image/svg+xml," + quote(self.data.decode().replace('"', "'"), safe=" /:;,=()'"))
        return Markup(f"data:image/{self.kind};base64,{base64.b64encode(self.data).decode()}")


def compress(png: Path, *, rounded: bool = False, box: Box | None = None, widest: int | None = None) -> Picture:
    """Return a figure as WebP without loss, half the bytes of a PNG; two of its pixels become one of the page.

    Parameters
    ----------
    png : path
    rounded : bool
        Whether rare colours are rounded, see `round_rare_colours`: a quarter of the bytes less.
    box : tuple of float, optional
        The part of the figure that is shown.
    widest : int, optional
        The most CSS pixels that it may be wide on the page; without it the figure's own width.
    """
    with Image.open(io.BytesIO(read_png(png))) as image:
        dots = float(image.info.get("dpi", (220, 220))[0])
        picture = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA")).convert("RGB")
    if box:
        picture = picture.crop(_pixels_of(box, picture.size))
    width, height = (round(side / dots * PIXELS_PER_INCH * ENLARGEMENT) for side in picture.size)
    if widest is not None and widest < width:
        width, height = widest, round(height * widest / width)
        # this filter has no negative lobe: beside an edge no colour is brighter or darker than both its sides
        picture = picture.resize((2 * width, 2 * height), Image.Resampling.HAMMING)
    if rounded:
        picture = round_rare_colours(picture)
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", lossless=True, method=4, quality=80)  # without loss, quality is effort
    return Picture(buffer.getvalue(), "webp", width, height)


def _pixels_of(box: Box, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the pixels of a part of a figure, with a margin, within the figure."""
    wide, high = size
    margin = MARGIN * wide
    left, top, right, bottom = box
    return (
        max(0, round(left * wide - margin)),
        max(0, round(top * high - margin)),
        min(wide, round(right * wide + margin)),
        min(high, round(bottom * high + margin)),
    )


def round_rare_colours(picture: Image.Image) -> Image.Image:
    """Return a picture whose rare colours are multiples of `STEP`, or 255, in each channel; others are as they were."""
    pixels = np.asarray(picture).astype(np.int32)
    codes = (pixels[..., 0] << 16) | (pixels[..., 1] << 8) | pixels[..., 2]
    is_rare = np.bincount(codes.ravel(), minlength=1 << 24)[codes] < RARE * codes.size
    rounded = np.minimum((pixels + STEP // 2) // STEP * STEP, 255)
    return Image.fromarray(np.where(is_rare[..., None], rounded, pixels).astype(np.uint8))


def read_vector(svg: Path) -> Picture | None:
    """Return a figure as SVG, coordinates to a hundredth of a point; None if that is too large."""
    text = read_bytes(svg).decode()
    # what a browser does not need: declarations, comments, metadata, white space, further digits
    text = re.sub(r"(?s)<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", text)
    text = re.sub(r"\s+", " ", text).replace("> <", "><").strip()
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)
    # of the root element, which comes first: width, then height
    size = [float(side) for side in re.findall(r'(?:width|height)="([\d.]+)pt"', text)[:2]]
    width, height = (round(side / POINTS_PER_INCH * PIXELS_PER_INCH * ENLARGEMENT) for side in size)
    return Picture(text.encode(), "svg+xml", width, height) if len(text) < MAX_VECTOR_BYTES else None


def read_film(webp: Path) -> tuple[Picture, Picture]:
    """Return a figure in motion, unchanged, and its last frame alone; two of their pixels become one of the page."""
    content = read_bytes(webp)
    with Image.open(io.BytesIO(content)) as image:
        size = (round(image.width / 2), round(image.height / 2))
        image.seek(image.n_frames - 1)  # type: ignore[attr-defined]
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "WEBP", lossless=True)
    return Picture(content, "webp", *size), Picture(buffer.getvalue(), "webp", *size)


def compress_to_fit(
    pngs: Sequence[Path], max_bytes: int, vectors: Mapping[Path, Picture] | None = None
) -> dict[Path, Picture]:
    """Return figures, compressed until together they have at most `max_bytes`.

    At first a figure in `vectors` is that drawing, any other WebP. Drawings become WebP, the largest first; then rare
    colours are rounded, in the largest figures first. What is too large after that stays so, in all its colours.
    """
    pictures = dict(vectors or {})
    with ThreadPoolExecutor() as threads:
        others = [png for png in pngs if png not in pictures]
        pictures |= zip(others, threads.map(compress, others), strict=True)
    # the order is that of the first sizes; a drawing comes twice, as WebP and as WebP with rare colours rounded
    by_size = sorted(pngs, key=lambda png: -len(pictures[png].data))
    attempts = [(png, False) for png in by_size if pictures[png].kind == "svg+xml"]
    attempts += [(png, True) for png in by_size]
    for png, rounded in attempts:
        if sum(len(picture.data) for picture in pictures.values()) <= max_bytes:
            break
        smaller = compress(png, rounded=rounded)
        if len(smaller.data) < len(pictures[png].data):
            pictures[png] = smaller
    return pictures
