"""A figure as SVG for the page: without what only an editor needs, and with colours for a dark screen."""

from __future__ import annotations

import re
from collections.abc import Mapping

INK, GROUND = "#e4e7ec", "#14171c"  # of the page on a dark screen, as page.css has them
FAINTEST = 3.0  # contrast with the ground below which a colour is lightened: WCAG's least for graphics
KEPT = "on_map"  # begins the ids of what lies on a heat map, whose colours are chosen for its cells
NUMBER = re.compile(r"-?\d+\.\d+")
REFERENCE = re.compile(r'(?:xlink:href="|url\()#([^")]+)')
COLOUR = re.compile(r": (#[0-9a-f]{6})\b")  # in matplotlib's styles
ON_MAPS = (KEPT, "QuadMesh")


def lean(svg: str) -> str:
    """Return matplotlib's SVG with coordinates to a hundredth of a point, without comments, metadata and unused ids."""
    svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s+", " ", svg).replace("> <", "><").strip()
    svg = re.sub(r' [xy]="[^"]*"|translate\([^)]*\)', lambda found: NUMBER.sub(_rounded, found[0]), svg)
    svg = re.sub(r' d="([MLQCz\d\s.-]*)"', lambda found: f' d="{_relative(found[1])}"', svg)
    short = {name: f"i{place}" for place, name in enumerate(dict.fromkeys(REFERENCE.findall(svg)))}
    svg = REFERENCE.sub(lambda found: found[0].removeprefix("xlink:").replace(found[1], short[found[1]]), svg)
    ids = {name: f' id="{given}"' for name, given in short.items()}
    return re.sub(r' id="([^"]+)"', lambda found: ids.get(found[1], found[0] * found[1].startswith(ON_MAPS)), svg)


def _rounded(number: re.Match[str]) -> str:
    return _short(round(100 * float(number[0])))


def _short(hundredths: int) -> str:
    return re.sub(r"^(-?)0\.", r"\1.", f"{hundredths / 100:g}")


def _relative(path: str) -> str:
    """Return a path whose points are told from the one before, in fewer characters; errors do not add up."""
    told, before = [], ""
    start = place = [0, 0]
    for command, numbers in re.findall(r"([MLQCz])([^MLQCz]*)", path):
        points = [round(100 * float(number)) for number in numbers.split()]
        steps = " ".join(_short(point - place[index % 2]) for index, point in enumerate(points))
        # a letter goes without saying where it is the last one
        told.append((" " if command == before != "M" else command.lower()) + steps)
        before, place = command, points[-2:] or start
        start = place if command == "M" else start
    return "".join(told).replace(" -", "-")


def with_dark(svg: str) -> str:
    """Return an SVG whose colours are variables, with a style sheet that sets others on a dark screen.

    Greys go from ink to ground as they went from black to white; colours stay, unless they would not be seen.
    """
    colours = sorted({"#000000", *COLOUR.findall(svg)})
    dark = {colour: other for colour in colours if (other := _in_the_dark(colour)) != colour}
    svg = COLOUR.sub(lambda found: f": var(--{found[1][1:]})" if found[1] in dark else found[0], svg)
    as_drawn, changed = (f"fill:var(--000000);{_declared(values)}" for values in ({one: one for one in dark}, dark))
    on_maps = ",".join(f"[id^={name}]" for name in ON_MAPS)
    style = f":root{{{as_drawn}}}"
    style += f"@media screen and (prefers-color-scheme:dark){{:root{{{changed}}}{on_maps}{{{as_drawn}}}}}"
    return svg.replace("</style>", f"{style}</style>", 1)


def _declared(values: Mapping[str, str]) -> str:
    return ";".join(f"--{colour[1:]}:{value}" for colour, value in values.items())


def _in_the_dark(colour: str) -> str:
    light = _parts(colour)
    if len(set(light)) == 1:
        return _mixed(INK, GROUND, light[0] / 255)
    shares = (share / 20 for share in range(21))
    return next(lit for share in shares if _contrast(lit := _mixed(colour, INK, share)) >= FAINTEST)


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def _mixed(one: str, other: str, share: float) -> str:
    return "#" + bytes(round(a + share * (b - a)) for a, b in zip(_parts(one), _parts(other), strict=True)).hex()


def _contrast(colour: str) -> float:
    """Return a colour's contrast with the dark ground, as WCAG defines it."""
    one, other = (
        sum(
            weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
            for weight, part in zip((0.2126, 0.7152, 0.0722), (part / 255 for part in _parts(each)), strict=True)
        )
        for each in (colour, GROUND)
    )
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
