"""What a drawn figure or film says of itself: its provenance, with facts and alternative text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import ExifTags, Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.provenance import KEY


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a figure's PNG or a film's WebP.

    Raises
    ------
    ProjectError
        If the file is missing, truncated, or not one of ours.
    """
    try:
        with Image.open(path) as image:
            return _of_film(image) if path.suffix == ".webp" else _of_figure(image)
    except FileNotFoundError:
        raise ProjectError(f"{path}: no such file; run snakemake to make it") from None
    except (
        KeyError,
        AttributeError,
        OSError,
        TypeError,
        ValueError,
        SyntaxError,
        EOFError,
        Image.DecompressionBombError,
    ):
        raise ProjectError(f"{path}: not drawn by learning-dynamics; delete it and run snakemake again") from None


def _of_figure(image: Image.Image) -> dict[str, Any]:
    record = dict(json.loads(image.info[KEY]))
    image.verify()  # to its end: a truncated picture keeps its head
    return record


def _of_film(image: Image.Image) -> dict[str, Any]:
    record = dict(json.loads(image.getexif()[ExifTags.Base.ImageDescription])[KEY])
    image.seek(image.n_frames - 1)  # type: ignore[attr-defined]
    image.load()  # to its end, as above
    return record
