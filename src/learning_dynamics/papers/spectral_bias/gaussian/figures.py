"""The hidden layer's singular values when both layers start Gaussian."""

from learning_dynamics.papers.spectral_bias.panels import DASHES, limits_panels, line
from learning_dynamics.plotting import Drawn
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tidy import Table, settings_of


def fig4(first: Table, second: Table, *, member: Natural, top: Count) -> Drawn:
    r"""The hidden layer's singular values when both layers start Gaussian.

    Otherwise as `fig1a`. Grey dashes: the limits that Corollary 3.1 gives the orthogonal layer of equal mean square
    with $W_2 = 0$. The more $W_2$ brings along, the less $W_1$ has to grow. On how many draws the last of the values
    that should grow, as many as there are outputs, does not stand out from the others, the claim counts.
    """
    tables = (first, second)
    titles = [
        rf"variance of $W_1$ ${settings['variance']:g}$, of $W_2$ ${settings['output_variance']:g}$"
        for settings in map(settings_of, tables)
    ]
    dashes = [line("orthogonal layer of equal size", "grey", DASHES, 1.0)]
    figure = limits_panels(titles, tables, member, top, height=2.7, entries=dashes)
    return Drawn(figure, alt="Two panels; the largest singular values rise, the others move little.")
