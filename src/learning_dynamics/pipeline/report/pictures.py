"""Figures as the page and the published results carry them: few colours, many pixels; curves of small plots as SVG."""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from PIL import Image

from learning_dynamics.pipeline.store.pictures import read_png
from learning_dynamics.pipeline.store.stamps import read_bytes

PIXELS_PER_INCH = 96  # CSS's
POINTS_PER_INCH = 72
ENLARGEMENT = 1.15  # figures are shown a little above their printed size, at two pixels of the file for one of the page
MAX_VECTOR_BYTES = 150_000  # bytes of a figure that is shown as SVG
# colours and CSS pixels of width, from fine to coarse
GRADES: tuple[tuple[int, int | None], ...] = ((256, None), (128, None), (64, None), (32, None), (16, None), (16, 480))


@dataclass(frozen=True)
class Picture:
    """A compressed image and the size to show it at, in CSS pixels."""

    data: bytes
    kind: str
    width: int
    height: int

    @property
    def uri(self) -> Markup:
        """The image as a data URI, to stand between double quotes."""
        if self.kind == "svg+xml":  # text stays text: a quarter shorter than base64
            return Markup("data:image/svg+xml," + quote(self.data.decode().replace('"', "'"), safe=" /:;,=()'"))
        return Markup(f"data:image/{self.kind};base64,{base64.b64encode(self.data).decode()}")


def compress(png: Path, kind: str = "png", colours: int = 256, widest: int | None = None) -> Picture:
    """Return a figure in a palette of its own, scaled down to at most `widest` pixels of the page at twice that.

    Parameters
    ----------
    png : path
    kind : str
        ``png``, or ``webp``, which is a fifth smaller.
    colours : int
    widest : int, optional
    """
    with Image.open(io.BytesIO(read_png(png))) as image:
        dots = float(image.info.get("dpi", (220, 220))[0])
        picture = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA")).convert("RGB")
    width, height = (round(side / dots * PIXELS_PER_INCH * ENLARGEMENT) for side in picture.size)
    if widest is not None and 2 * widest < picture.width:
        height, width = round(height * widest / width), widest
        size = (2 * widest, round(picture.height * 2 * widest / picture.width))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    # by coverage of colours, not by how many pixels have them: a thin line keeps its own
    quantised = picture.quantize(colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    if kind == "webp":
        quantised.convert("RGB").save(buffer, "WEBP", lossless=True, method=4, quality=80)
    else:
        quantised.save(buffer, "PNG", optimize=True)
    return Picture(buffer.getvalue(), kind, width, height)


def read_vector(svg: Path) -> Picture | None:
    """Return a figure as SVG, coordinates to a hundredth of a point; None if that is too large."""
    text = read_bytes(svg).decode()
    text = re.sub(r"(?s)<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", text)
    text = re.sub(r"\s+", " ", text).replace("> <", "><").strip()
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)
    size = [float(side) for side in re.findall(r'(?:width|height)="([\d.]+)pt"', text)[:2]]
    width, height = (round(side / POINTS_PER_INCH * PIXELS_PER_INCH * ENLARGEMENT) for side in size)
    return Picture(text.encode(), "svg+xml", width, height) if len(text) < MAX_VECTOR_BYTES else None


def read_film(webp: Path) -> tuple[Picture, Picture]:
    """Return a figure in motion as it is, two of its pixels for one of the page, and its last frame alone."""
    content = read_bytes(webp)
    with Image.open(io.BytesIO(content)) as image:
        size = (round(image.width / 2), round(image.height / 2))
        image.seek(image.n_frames - 1)  # type: ignore[attr-defined]
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "WEBP", lossless=True)
    return Picture(content, "webp", *size), Picture(buffer.getvalue(), "webp", *size)


def compress_to_fit(
    pngs: Sequence[Path], max_bytes: int, kind: str = "png", vectors: Mapping[Path, Picture] | None = None
) -> dict[Path, Picture]:
    """Return figures that together have at most so many bytes, those in `vectors` as they are there.

    The largest of the latter are compressed first like the others; then the largest of all lose colours.
    """
    vectors = vectors or {}
    grades = {png: -1 if png in vectors else 0 for png in pngs}
    with ThreadPoolExecutor() as threads:
        compressed = threads.map(lambda png: vectors.get(png) or compress(png, kind, *GRADES[0]), pngs)
        pictures = dict(zip(pngs, compressed, strict=True))
    while sum(len(picture.data) for picture in pictures.values()) > max_bytes:
        compressible = [png for png in pngs if grades[png] + 1 < len(GRADES)]
        if not compressible:
            break
        largest = max(compressible, key=lambda png: (grades[png] < 0, len(pictures[png].data)))
        grades[largest] += 1
        pictures[largest] = compress(largest, kind, *GRADES[grades[largest]])
    return pictures
