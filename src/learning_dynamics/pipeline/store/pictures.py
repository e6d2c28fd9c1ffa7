"""Figures and films as files: matplotlib's defaults while they are drawn, and the record in them.

The record is the stamp of the output with its facts and alternative text.
"""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import ExifTags, Image

from learning_dynamics.pipeline.store.stamps import KEY, read_bytes, reading


@contextmanager
def matplotlib_defaults() -> Iterator[None]:
    """Draw with matplotlib's own defaults, whatever a matplotlibrc in the folder or at home says."""
    import matplotlib as mpl

    # else it warns of the dates in fonts' files
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    with mpl.rc_context():
        mpl.rcdefaults()
        yield


def read_png(path: Path) -> bytes:
    """Return the bytes of a PNG file; damage, which the CRC of a chunk shows, is an error (`stamps.reading`)."""
    content = read_bytes(path)
    with reading(path), Image.open(io.BytesIO(content), formats=["PNG"]) as image:
        image.verify()
    return content


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a figure's PNG, a film's WebP or an interactive figure's JSON.

    See `stamps.reading` for the errors.
    """
    content = read_png(path) if path.suffix == ".png" else read_bytes(path)
    with reading(path):
        if path.suffix == ".json":
            return dict(json.loads(content)[0])  # the record; the chart follows it
        with Image.open(io.BytesIO(content)) as image:
            if path.suffix == ".webp":
                return dict(json.loads(image.getexif()[ExifTags.Base.ImageDescription])[KEY])
            return dict(json.loads(image.info[KEY]))
