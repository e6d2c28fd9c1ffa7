"""What a drawn figure or film says of itself: its provenance, with facts and alternative text."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import ExifTags, Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store.provenance import KEY
from learning_dynamics.pipeline.store.seals import verified


@contextmanager
def matplotlib_defaults() -> Iterator[None]:
    """Draw with matplotlib's own defaults, whatever a matplotlibrc in the folder or at home says."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        yield


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a figure's PNG, a film's WebP or an interactive figure's JSON.

    Raises
    ------
    ProjectError
        If the file is missing, not as it was written, or not one of ours.
    """
    content = io.BytesIO(verified(path))
    try:
        if path.suffix == ".json":
            return dict(json.load(content)[0])
        with Image.open(content) as image:
            return _record_of_film(image) if path.suffix == ".webp" else _record_of_figure(image)
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


def _record_of_figure(image: Image.Image) -> dict[str, Any]:
    return dict(json.loads(image.info[KEY]))


def _record_of_film(image: Image.Image) -> dict[str, Any]:
    return dict(json.loads(image.getexif()[ExifTags.Base.ImageDescription])[KEY])
