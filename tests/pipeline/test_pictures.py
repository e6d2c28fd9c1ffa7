"""Pictures of figures on pages, against the figures as drawn: their colours, their bytes, and panels shown alone."""

import io
import re
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image, ImageColor

from learning_dynamics.pipeline.commands.figure import panel_boxes
from learning_dynamics.pipeline.report.contents import Exhibit, _lead, enclosing_box
from learning_dynamics.pipeline.report.pictures import compress, compress_to_fit, read_vector
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.plotting import COLOURS, WIDTH, sequence, style
from tests.pipeline.conftest import refusal

# share of the pixels from which a colour is the figure's own, and not that of a smoothed edge; only colours that fewer
# than 1e-4 have are rounded (`RARE` of `report.pictures`)
FREQUENT = 1e-3
# by which the share of a colour may differ, as edges between areas are smoothed
AREA_TOLERANCE = 1e-3
SHADES = ("#ececec", "#faefd6", "#ddeef7", "#f5e4ed")  # of phases, as faint as any in a figure


@pytest.fixture(scope="module")
def png(tmp_path_factory):
    """A figure with shaded phases beside lines, points and a map of many colours; as SVG it is beside the PNG."""
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


def pixels_of_file(file):
    """Return the colours of a picture in a file, floats of shape (height, width, 3)."""
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB")).astype(float)


def pixels_of_picture(picture):
    """Return the colours of a compressed picture, floats of shape (height, width, 3)."""
    return pixels_of_file(io.BytesIO(picture.data))


def colours_and_shares(image):
    """Return the colours of a picture, shape (colours, 3), and the share of its area that each has."""
    # a pixel is one number, 2^16 red + 2^8 green + blue: `np.unique` sorts numbers much faster than rows
    codes, counts = np.unique(image.astype(np.int64) @ [1 << 16, 1 << 8, 1], return_counts=True)
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1).astype(float), counts / counts.sum()


def areas(image, reference):
    """Return the share of a picture's area that is nearest to each of the reference's colours."""
    colours, shares = colours_and_shares(image)
    nearest = np.argmin(((colours[:, None] - reference[None]) ** 2).sum(axis=2), axis=1)
    return np.bincount(nearest, shares, minlength=len(reference))


def differences(drawn, shown):
    """Return a sentence for each colour that has another area in a picture than in the figure, or is new in it."""
    sentences = []
    colours, shares = colours_and_shares(drawn)
    figure_colours = colours[shares > FREQUENT]
    areas_drawn, areas_shown = areas(drawn, figure_colours), areas(shown, figure_colours)
    for colour, area_drawn, area_shown in zip(figure_colours, areas_drawn, areas_shown, strict=True):
        if abs(area_shown - area_drawn) > AREA_TOLERANCE:
            sentences.append(f"{colour} has {area_shown:.4f} of the area, drawn {area_drawn:.4f}")
    colours, shares = colours_and_shares(shown)
    # a colour of a larger share has, within the tolerance, more than `FREQUENT` of the figure: it is one of its own
    for colour in colours[shares > FREQUENT + AREA_TOLERANCE]:
        if not (figure_colours == colour).all(axis=1).any():
            sentences.append(f"{colour} is a colour of the picture and none of the figure")
    return sentences


@pytest.mark.parametrize("rounded", [False, True])
def test_a_picture_has_the_colours_of_the_figure(png, rounded):
    assert differences(pixels_of_file(png), pixels_of_picture(compress(png, rounded=rounded))) == []


def test_a_picture_that_is_not_rounded_has_every_pixel(png):
    np.testing.assert_array_equal(pixels_of_picture(compress(png)), pixels_of_file(png))


def test_rounding_changes_no_channel_by_more_than_four_of_255(png):
    # rare colours go to the nearest multiple of eight: some are halfway between two
    assert np.abs(pixels_of_picture(compress(png, rounded=True)) - pixels_of_file(png)).max() == 4


def test_rounding_keeps_every_pixel_of_a_frequent_colour(png):
    drawn, shown = pixels_of_file(png), pixels_of_picture(compress(png, rounded=True))
    colours, shares = colours_and_shares(drawn)
    for colour in colours[shares > FREQUENT]:
        has_colour = (drawn == colour).all(axis=2)
        assert (shown[has_colour] == colour).all(), colour


@pytest.mark.parametrize("n_colours", [256, 64, 16])
def test_the_comparison_of_colours_notices_a_reduced_palette(png, n_colours):
    with Image.open(png) as image:
        reduced = image.convert("RGB").quantize(n_colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    assert differences(pixels_of_file(png), np.asarray(reduced.convert("RGB")).astype(float)) != []


def test_a_thumbnail_has_the_colours_of_a_shaded_area(png):
    colours, shares = colours_and_shares(pixels_of_picture(compress(png, rounded=True, widest=200)))
    for shade in SHADES:
        has_shade = (colours == ImageColor.getrgb(shade)).all(axis=1)
        # a quarter of one of three panels is 0.08; lines, labels and margins take up to three quarters of that
        assert shares[has_shade].sum() > 0.02, shade


def test_a_figure_as_svg_has_the_colours_of_the_figure(png):
    drawn = png.with_suffix(".svg").read_text(encoding="utf-8")
    shown = read_vector(png.with_suffix(".svg")).data.decode()
    colours_drawn, colours_shown = (re.findall(r"(?:fill|stroke): (#\w{6})", text) for text in (drawn, shown))
    assert len(colours_drawn) > len(SHADES) + len(COLOURS) + 30  # of shaded areas and both panels of lines, and more
    assert colours_shown == colours_drawn


def test_the_largest_figures_are_rounded_until_all_fit(png, tmp_path):
    large, small = png, tmp_path / "small.png"
    with Image.open(png) as image:
        image.crop((0, 0, 700, 500)).save(small, dpi=(220, 220))  # that of figures, `savefig.dpi`
    exact_large, exact_small = (len(compress(path).data) for path in (large, small))
    rounded_large, rounded_small = (len(compress(path, rounded=True).data) for path in (large, small))

    def sizes_within(max_bytes):
        pictures = compress_to_fit([small, large], max_bytes)
        return len(pictures[large].data), len(pictures[small].data)

    assert sizes_within(exact_large + exact_small) == (exact_large, exact_small)
    assert sizes_within(exact_large + exact_small - 1) == (rounded_large, exact_small)
    assert sizes_within(rounded_large + exact_small - 1) == (rounded_large, rounded_small)
    assert sizes_within(1) == (rounded_large, rounded_small)  # nothing more can be done


@pytest.mark.parametrize(
    ("bytes_left", "kind"),
    [pytest.param(0, "svg+xml", id="it just fits"), pytest.param(-1, "webp", id="it has a byte too many")],
)
def test_a_figure_as_svg_becomes_webp_if_it_does_not_fit(png, bytes_left, kind):
    vector = read_vector(png.with_suffix(".svg"))
    vector = replace(vector, data=vector.data + b" " * len(compress(png).data))  # larger than as WebP
    pictures = compress_to_fit([png], len(vector.data) + bytes_left, {png: vector})
    assert pictures[png].kind == kind


# of the panels below, which matplotlib calls "red", "lime" and "blue"
RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


@pytest.fixture(scope="module")
def panels(tmp_path_factory):
    """A figure of three panels, red, green and blue, the last with a colour bar: its file, and the panels' boxes.

    A box is left, top, right and bottom, as shares of the figure.
    """
    path = tmp_path_factory.mktemp("panels") / "panels.png"
    with style():
        figure, axes = plt.subplots(1, 3, figsize=(6.0, 2.0), layout="constrained")
        for axis, colour in zip(axes, ("red", "lime", "blue"), strict=True):
            axis.set(xlabel="time", ylabel="value", facecolor=colour)
        figure.colorbar(axes[2].imshow(np.zeros((2, 2))), ax=axes[2])
        figure.canvas.draw()
        figure.set_layout_engine("none")
        boxes = panel_boxes(figure)
        figure.savefig(path)
    plt.close(figure)
    return path, boxes


def test_a_colour_bar_is_no_panel(panels):
    _, boxes = panels
    assert len(boxes) == 3


def test_a_panel_is_shown_alone_with_its_labels(panels):
    path, boxes = panels
    _, middle, _ = boxes  # it is green
    drawn, shown = pixels_of_file(path), pixels_of_picture(compress(path, box=middle))

    def area(image, colour):
        """Return how many pixels have a colour."""
        return (image == colour).all(axis=2).sum()

    assert area(shown, GREEN) == area(drawn, GREEN) > 0
    assert area(shown, RED) == area(shown, BLUE) == 0
    # the label of its axis is left of the panel: the first columns of pixels are white unless it is cut
    assert (shown[:, :2] == 255).all()


def test_a_box_around_panels_reaches_from_the_first_to_the_last(panels):
    _, (red, green, _) = panels
    (left_of_red, *_), (_, _, right_of_green, _) = red, green
    left, _, right, _ = enclosing_box([red, green])
    assert left == left_of_red
    assert right == right_of_green


def test_there_is_no_box_around_no_panels():
    assert enclosing_box([]) is None


FIRST_PANEL, SECOND_PANEL = (0.0, 0.0, 0.4, 0.9), (0.5, 0.1, 1.0, 1.0)  # left, top, right, bottom: shares of a figure
WHERE = "toy.yaml: lead_panels"  # which errors name


@pytest.fixture
def exhibit():
    """A figure of two panels."""
    return Exhibit(
        paper="toy",
        name="growth",
        title="Growth",
        caption="",
        alt="",
        png=Path("growth.png"),
        pdf=Path("growth.pdf"),
        code="",
        command="",
        panels=[FIRST_PANEL, SECOND_PANEL],
    )


@pytest.mark.parametrize(
    ("block", "box", "caption"),
    [
        pytest.param({}, None, "Growth", id="no panel, so the whole figure and its title"),
        pytest.param(
            {"lead_panels": [2], "lead_caption": "Fast."}, SECOND_PANEL, "Fast.", id="one panel and a caption"
        ),
        pytest.param({"lead_panels": [1, 2]}, (0.0, 0.0, 1.0, 1.0), "Growth", id="the box around two panels"),
    ],
)
def test_a_paper_opens_with_the_panels_that_its_configuration_names(exhibit, block, box, caption):
    lead = _lead(exhibit, block, WHERE)
    assert lead.box == box
    assert lead.caption == caption


def test_a_panel_that_the_figure_lacks_is_refused(exhibit):
    assert "toy.yaml: lead_panels: growth has 2 panels" in refusal(_lead, exhibit, {"lead_panels": [3]}, WHERE)


def test_a_figure_drawn_before_panels_were_recorded_is_shown_whole(exhibit):
    assert _lead(replace(exhibit, panels=[]), {"lead_panels": [3]}, WHERE).box is None


def test_settings_of_a_matplotlibrc_do_not_reach_figures():
    with matplotlib_defaults():
        expected = dict(mpl.rcParams)
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 20.0}), matplotlib_defaults():
        assert dict(mpl.rcParams) == expected
