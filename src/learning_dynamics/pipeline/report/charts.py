"""Charts that a reader moves, as the page carries them: their specification, and the library that draws it."""

import base64
import functools
import gzip
import json
from pathlib import Path

from markupsafe import Markup

from learning_dynamics.pipeline.store.stamps import read_bytes

DRAW = Path(__file__).with_name("chart.js")


def read_chart(file: Path) -> Markup:
    """Return an interactive figure's chart as text that ends no script."""
    chart = json.loads(read_bytes(file))[1]
    return Markup(json.dumps(chart, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


@functools.cache
def library_uri() -> str:
    """Return what draws the charts of a page, as a data URI: Vega-Embed with all that it needs, and the call.

    It is packed, to two fifths: every paper's page carries it.
    """
    import vl_convert

    module = vl_convert.javascript_bundle(DRAW.read_text(encoding="utf-8"))
    packed = gzip.compress(module.encode(), mtime=0)
    return f"data:application/gzip;base64,{base64.b64encode(packed).decode()}"
