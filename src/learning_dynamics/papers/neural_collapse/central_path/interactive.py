"""Singular values on the central path, and of networks in training, at any recorded moment."""

import json
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from learning_dynamics.papers.neural_collapse.central_path import quantities
from learning_dynamics.papers.neural_collapse.training import quantities as training_quantities
from learning_dynamics.papers.neural_collapse.trainings import NETWORKS, data_and_network
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.interactive import DASHES, INK, Interactive, choice, italic, power, powers, slider
from learning_dynamics.tidy import Table, select

PATH = "central path"


def spectrum_by_moment(flows: Table, trainings: Sequence[Table]) -> Interactive:
    r"""Move along the central path, or along the training of a network: class means move apart, towards a simplex.

    The SNR singular values $\omega_j$ say how far class means spread along each of their directions, in units of the
    deviation within classes. On a simplex all are equal. The thick line is their geometric mean over {draws} draws;
    small dots are draws. The grey line is where flow or training began. The dashed line is $\sqrt C$ with $C$ classes;
    there the means deviate as much as examples do within classes. On the central path features follow Riemannian
    gradient flow with {classes} classes. Networks, trained under MSE, are shown only at measured epochs.
    """
    classes = int(flows["classes"].max())
    path = select(flows, quantities.OMEGA, classes=classes, flow=quantities.ORTHOGONAL)
    # by name: rows with the columns moment (a time or an epoch), seed, index j and value omega_j
    courses = {PATH: path.rename(columns={"time": "moment"})}
    for training in trainings:
        omega = select(training, training_quantities.SNR)
        courses[NETWORKS[data_and_network(training).network]] = omega.rename(columns={"epoch": "moment"})
    # as many moments as the course with the fewest has
    count = min(rows["moment"].nunique() for rows in courses.values())
    moments = {name: _spaced_moments(rows, count) for name, rows in courses.items()}
    table = _spectra(courses, moments)
    logarithms = table.assign(value=np.log(table["value"])).groupby(["course", "place", "index"])["value"]
    means = np.exp(logarithms.mean()).round(4).reset_index()  # over draws
    directions = int(table["index"].max())
    # the vertical axis, in decades: a tenth of one below the least value to a tenth above the largest
    lowest = float(np.log10(table["value"].min())) - 0.1
    highest = float(np.log10(table["value"].max())) + 0.1
    x = alt.X(
        "index:Q",
        title=f"direction {italic('j')}",
        scale=alt.Scale(domain=[0.6, directions + 0.4], nice=False),
        axis=alt.Axis(values=list(range(1, directions + 1)), format="d"),
    )
    y = alt.Y(
        "value:Q",
        title=f"SNR singular values {italic('ω')}ⱼ",
        scale=alt.Scale(type="log", domain=[10**lowest, 10**highest], nice=False),
        axis=powers(int(np.ceil(lowest)), int(np.floor(highest))),
    )
    # the chart's parameters `moment` and `course`, as expressions below name them
    moment_slider = slider("moment", "moment", range(1, count + 1), 1 + count // 2)
    course_choice = choice("course", "course", list(courses), list(courses), PATH)
    # for each course the titles of its moments
    titles = {
        name: [_time(moment) if name == PATH else f"epoch {moment:.0f}" for moment in course_moments]
        for name, course_moments in moments.items()
    }
    title = alt.Title(text=alt.ExprRef(f"{json.dumps(titles, ensure_ascii=False)}[course][moment - 1]"))
    on_course = "datum.course == course"
    at_moment = f"{on_course} && datum.place == moment"
    mean = alt.Chart(means).encode(x, y)
    mean_line = mean.mark_line(color=COLOURS["blue"], strokeWidth=2.4, point={"color": COLOURS["blue"], "size": 60})
    chart = alt.layer(
        alt.Chart(pd.DataFrame({"value": [float(np.sqrt(classes))]}))
        .mark_rule(color=INK, strokeDash=DASHES, strokeWidth=1)
        .encode(y),
        mean.transform_filter(f"{on_course} && datum.place == 1").mark_line(color=COLOURS["grey"], strokeWidth=1.4),
        alt.Chart(table)
        .transform_filter(at_moment)
        .mark_point(color=COLOURS["blue"], filled=True, size=14, opacity=0.55)
        .encode(x, y),
        mean_line.transform_filter(at_moment),
    )
    return Interactive(
        chart.add_params(moment_slider, course_choice).properties(title=title),
        facts={"draws": int(path["seed"].nunique()), "classes": classes},
        alt="A row of dots, one for each direction of the class means, that rises by orders of magnitude as the slider "
        "goes on; on the central path it becomes level.",
    )


def _spaced_moments(rows: pd.DataFrame, count: int) -> np.ndarray:
    """Return `count` of the recorded moments, evenly spaced in their order, the first and the last among them."""
    moments = np.sort(rows["moment"].unique())
    return moments[np.round(np.linspace(0, len(moments) - 1, count)).astype(int)]


def _spectra(courses: Mapping[str, pd.DataFrame], moments: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return the positive singular values of every draw of every course at the given moments.

    Columns are those that the chart names: course, seed, index, value, and place, the number of the moment within its
    course, from 1.
    """
    tables = []
    for name, rows in courses.items():
        numbers = {moment: number for number, moment in enumerate(moments[name], start=1)}
        chosen = rows[rows["moment"].isin(numbers) & (rows["value"] > 0)]
        number = chosen["moment"].map(numbers).astype(int)
        tables.append(chosen[["seed", "index"]].assign(course=name, place=number, value=chosen["value"].round(4)))
    return pd.concat(tables)


def _time(moment: float) -> str:
    """Return what the title writes for a flow time."""
    factor, _, exponent = f"{moment:.1e}".partition("e")
    return f"{italic('t')} = 0" if moment == 0 else f"{italic('t')} = {factor} × {power(int(exponent))}"
