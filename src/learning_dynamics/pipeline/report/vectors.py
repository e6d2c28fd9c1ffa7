"""A figure as SVG for the page: without what only an editor needs, and with colours for a dark screen."""

import re
from collections.abc import Mapping

INK, GROUND = "#e4e7ec", "#14171c"  # of the page on a dark screen, as page.css has them
MIN_CONTRAST = 3.0  # contrast with the ground below which a colour is lightened: WCAG's least for graphics
ON_MAP = "on_map"  # begins the ids of what lies on a heat map, whose colours are chosen for its cells
NUMBER = re.compile(r"-?\d+\.\d+")
REFERENCE = re.compile(r'(?:xlink:href="|url\()#([^")]+)')
COLOUR = re.compile(r": (#[0-9a-f]{6})\b")  # in matplotlib's styles
ON_MAPS = (ON_MAP, "QuadMesh")


def minify(svg: str) -> str:
    """Return matplotlib's SVG with coordinates to a hundredth of a point, without comments, metadata and unused ids."""
    svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s+", " ", svg).replace("> <", "><").strip()
    svg = re.sub(r' [xy]="[^"]*"|translate\([^)]*\)', lambda match: NUMBER.sub(_round, match[0]), svg)
    svg = re.sub(r' d="([MLQCz\d\s.-]*)"', lambda match: f' d="{_relative(match[1])}"', svg)
    short = {name: f"i{index}" for index, name in enumerate(dict.fromkeys(REFERENCE.findall(svg)))}
    svg = REFERENCE.sub(lambda match: match[0].removeprefix("xlink:").replace(match[1], short[match[1]]), svg)
    ids = {name: f' id="{short_id}"' for name, short_id in short.items()}
    return re.sub(r' id="([^"]+)"', lambda match: ids.get(match[1], match[0] * match[1].startswith(ON_MAPS)), svg)


def _round(number: re.Match[str]) -> str:
    return _format_hundredths(round(100 * float(number[0])))


def _format_hundredths(hundredths: int) -> str:
    return re.sub(r"^(-?)0\.", r"\1.", f"{hundredths / 100:g}")


def _relative(path: str) -> str:
    """Return a path whose points are told from the one before, in fewer characters; errors do not add up."""
    commands, last_command = [], ""
    start = position = [0, 0]
    for command, numbers in re.findall(r"([MLQCz])([^MLQCz]*)", path):
        points = [round(100 * float(number)) for number in numbers.split()]
        steps = " ".join(_format_hundredths(point - position[index % 2]) for index, point in enumerate(points))
        # a letter goes without saying where it is the last one
        commands.append((" " if command == last_command != "M" else command.lower()) + steps)
        last_command, position = command, points[-2:] or start
        start = position if command == "M" else start
    return "".join(commands).replace(" -", "-")


def add_dark_colours(svg: str) -> str:
    """Return an SVG whose colours are variables, with a style sheet that sets others on a dark screen.

    Greys go from ink to ground as they went from black to white; colours stay, unless they would not be seen.
    """
    colours = sorted({"#000000", *COLOUR.findall(svg)})
    dark = {colour: dark_colour for colour in colours if (dark_colour := _dark_colour(colour)) != colour}
    svg = COLOUR.sub(lambda match: f": var(--{match[1][1:]})" if match[1] in dark else match[0], svg)
    as_drawn, changed = (
        f"fill:var(--000000);{_css_variables(values)}" for values in ({original: original for original in dark}, dark)
    )
    on_maps = ",".join(f"[id^={name}]" for name in ON_MAPS)
    style = f":root{{{as_drawn}}}"
    style += f"@media screen and (prefers-color-scheme:dark){{:root{{{changed}}}{on_maps}{{{as_drawn}}}}}"
    return svg.replace("</style>", f"{style}</style>", 1)


def _css_variables(values: Mapping[str, str]) -> str:
    return ";".join(f"--{colour[1:]}:{value}" for colour, value in values.items())


def _dark_colour(colour: str) -> str:
    light = _rgb(colour)
    if len(set(light)) == 1:
        return _mix(INK, GROUND, light[0] / 255)
    shares = (share / 20 for share in range(21))
    return next(lit for share in shares if _contrast(lit := _mix(colour, INK, share)) >= MIN_CONTRAST)


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def _mix(first: str, second: str, share: float) -> str:
    return "#" + bytes(round(a + share * (b - a)) for a, b in zip(_rgb(first), _rgb(second), strict=True)).hex()


def _contrast(colour: str) -> float:
    """Return a colour's contrast with the dark ground, as WCAG defines it."""
    luminance, ground_luminance = (
        sum(
            weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
            for weight, part in zip((0.2126, 0.7152, 0.0722), (part / 255 for part in _rgb(shade)), strict=True)
        )
        for shade in (colour, GROUND)
    )
    return (max(luminance, ground_luminance) + 0.05) / (min(luminance, ground_luminance) + 0.05)
