"""Pictures that a reader sees have the colours of the figures that were drawn, at every size."""

import io
import re
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.figure import panel_boxes
from learning_dynamics.pipeline.report.contents import Exhibit, _lead, enclosing_box
from learning_dynamics.pipeline.report.pictures import compress, compress_to_fit, read_vector
from learning_dynamics.plotting import COLOURS, WIDTH, sequence, style

FREQUENT = 1e-3  # share of the pixels from which a colour is one of the figure's own, and no smoothed edge
SHADES = ("#ececec", "#faefd6", "#ddeef7", "#f5e4ed")
SHARE = 1e-3  # of the picture, by which the area of a colour may differ


@pytest.fixture(scope="module")
def png(tmp_path_factory):
    """A figure with shaded phases, as faint as any, beside lines, points and a map of many colours."""
    path = tmp_path_factory.mktemp("drawn") / "figure.png"
    rng = np.random.default_rng(0)
    with style():
        figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.6))
        for start, colour in enumerate(SHADES):
            axes[0].axvspan(start, start + 1, color=colour, linewidth=0)
        for shift, colour in enumerate(COLOURS.values()):
            axes[0].plot(np.linspace(0, 4, 50), shift + np.sin(np.linspace(0, 9, 50)), color=colour, alpha=0.7)
        for shift, colour in enumerate(sequence(30)):
            axes[1].plot(rng.normal(size=40).cumsum() + shift, color=colour, linewidth=0.8)
        mesh = axes[2].pcolormesh(rng.random((12, 12)), cmap="viridis")
        figure.colorbar(mesh, ax=axes[2], label="value")
        figure.canvas.draw()
        figure.set_dpi(plt.rcParams["savefig.dpi"])
        figure.savefig(path)
        figure.savefig(path.with_suffix(".svg"))
    plt.close(figure)
    return path


def pixels(source):
    with Image.open(source) as image:
        return np.asarray(image.convert("RGB")).astype(float)


def shares(image):
    """Return the colours of a picture, and the share of its area that each has."""
    codes, counts = np.unique(image.astype(np.int64) @ [1 << 16, 1 << 8, 1], return_counts=True)
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1).astype(float), counts / counts.sum()


def areas(image, own):
    """Return the share of a picture's area that is nearest to each of some colours."""
    colours, share = shares(image)
    nearest = np.argmin(((colours[:, None] - own[None]) ** 2).sum(axis=2), axis=1)
    return np.bincount(nearest, share, minlength=len(own))


def differences(drawn, shown):
    """Return in which colours a picture is not the figure as drawn: areas of its own, and colours that it has not."""
    colours, share = shares(drawn)
    own = colours[share > FREQUENT]
    found = [
        f"{colour} has {here:.4f} of the area, drawn {there:.4f}"
        for colour, there, here in zip(own, areas(drawn, own), areas(shown, own), strict=True)
        if abs(here - there) > SHARE
    ]
    colours, share = shares(shown)
    strange = [colour for colour in colours[share > 5 * FREQUENT] if not (own == colour).all(axis=1).any()]
    return found + [f"{colour} is a colour of the picture and none of the figure" for colour in strange]


@pytest.mark.parametrize("rounded", [False, True])
def test_a_picture_has_the_colours_of_the_figure(png, rounded):
    picture = compress(png, rounded=rounded)
    assert differences(pixels(png), pixels(io.BytesIO(picture.data))) == []


def test_a_picture_that_need_not_be_smaller_has_every_pixel(png):
    np.testing.assert_array_equal(pixels(io.BytesIO(compress(png).data)), pixels(png))


def test_rounded_colours_are_rare_and_no_eye_sees_it(png):
    drawn, shown = pixels(png), pixels(io.BytesIO(compress(png, rounded=True).data))
    assert np.abs(drawn - shown).max() <= 4
    colours, share = shares(drawn)
    for colour in colours[share > FREQUENT]:
        kept = (shown == colour).all(axis=2) >= (drawn == colour).all(axis=2)
        assert kept.all(), colour


@pytest.mark.parametrize("colours", [256, 64, 16])
def test_a_reduced_palette_would_be_found(png, colours):
    with Image.open(png) as image:
        reduced = image.convert("RGB").quantize(colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    assert differences(pixels(png), np.asarray(reduced.convert("RGB")).astype(float))


def test_a_thumbnail_has_the_colours_of_a_shaded_area(png):
    shown = pixels(io.BytesIO(compress(png, rounded=True, widest=200).data))
    colours, share = shares(shown)
    for shade in SHADES:
        colour = np.array([int(shade[place : place + 2], 16) for place in (1, 3, 5)], dtype=float)
        assert share[(colours == colour).all(axis=1)].sum() > 0.02, shade


def test_a_figure_as_svg_has_the_colours_of_the_figure(png):
    drawn = png.with_suffix(".svg").read_text(encoding="utf-8")
    shown = read_vector(png.with_suffix(".svg")).data.decode()
    colours = [re.findall(r"(?:fill|stroke): (#\w{6})", text) for text in (drawn, shown)]
    assert len(colours[0]) > 40
    assert colours[0] == colours[1]


def test_figures_are_made_to_fit_by_what_no_eye_sees(png, tmp_path):
    other = tmp_path / "other.png"
    with Image.open(png) as image:
        image.crop((0, 0, 700, 500)).save(other, dpi=(220, 220))
    exact, rounded = ([len(compress(path, rounded=small).data) for path in (png, other)] for small in (False, True))
    vector = read_vector(png.with_suffix(".svg"))
    vector = replace(vector, data=vector.data + b" " * exact[0])
    for limit, sizes in (
        (10**9, exact),
        (sum(exact) - 1, [rounded[0], exact[1]]),
        (sum(rounded), rounded),
        (1, rounded),
    ):
        pictures = compress_to_fit([png, other], limit)
        assert [len(pictures[path].data) for path in (png, other)] == sizes, limit
    as_webp = compress_to_fit([png], len(vector.data) - 1, {png: vector})[png]
    assert (as_webp.kind, compress_to_fit([png], 10**9, {png: vector})[png].kind) == ("webp", "svg+xml")


def test_a_panel_is_shown_alone_with_its_labels(png, tmp_path):
    with style():
        figure, axes = plt.subplots(1, 3, figsize=(6.0, 2.0), layout="constrained")
        for axis, colour in zip(axes, ("red", "lime", "blue"), strict=True):
            axis.set(xlabel="time", ylabel="value", facecolor=colour)
        figure.colorbar(axes[2].imshow(np.zeros((2, 2))), ax=axes[2])
        figure.canvas.draw()
        figure.set_layout_engine("none")
        boxes = panel_boxes(figure)
        figure.savefig(tmp_path / "panels.png")
    plt.close(figure)
    assert len(boxes) == 3
    shown = pixels(io.BytesIO(compress(tmp_path / "panels.png", box=boxes[1]).data))
    drawn = pixels(tmp_path / "panels.png")
    present = {colour: (shown == colour).all(axis=2).sum() for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255))}
    assert present[255, 0, 0] == present[0, 0, 255] == 0
    assert present[0, 255, 0] == (drawn == (0, 255, 0)).all(axis=2).sum()
    assert (shown[:, :2] == 255).all(), "the panel's label is cut"
    left, _, right, _ = enclosing_box(boxes[:2])
    assert (left, right) == (boxes[0][0], boxes[1][2])
    assert enclosing_box([]) is None


def test_a_paper_opens_with_the_panels_that_its_configuration_names():
    figure = Exhibit(
        "toy",
        "growth",
        title="Growth",
        caption="",
        alt="",
        png=Path("growth.png"),
        pdf=Path("growth.pdf"),
        code="",
        command="",
    )
    figure.panels = [(0.0, 0.0, 0.4, 0.9), (0.5, 0.1, 1.0, 1.0)]
    for block, box, caption in (
        ({}, None, "Growth"),
        ({"lead_panels": [2], "lead_caption": "Fast."}, (0.5, 0.1, 1.0, 1.0), "Fast."),
        ({"lead_panels": [1, 2]}, (0.0, 0.0, 1.0, 1.0), "Growth"),
    ):
        lead = _lead(figure, block, "toy.yaml: lead_panels")
        assert (lead.box, lead.caption) == (box, caption), block
    with pytest.raises(ProjectError, match=r"toy.yaml: lead_panels: growth has 2 panels"):
        _lead(figure, {"lead_panels": [3]}, "toy.yaml: lead_panels")
    # a figure that was drawn before panels were recorded is shown whole
    assert _lead(replace(figure, panels=[]), {"lead_panels": [3]}, "toy.yaml: lead_panels").box is None
