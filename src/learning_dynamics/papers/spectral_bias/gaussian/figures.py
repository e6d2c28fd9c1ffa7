"""The hidden layer's singular values when both layers start Gaussian."""

from learning_dynamics.papers.spectral_bias.panels import DASHES, line_handle, spectra_against_limits
from learning_dynamics.plotting import Plot
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tidy import Table, settings_of


def fig4(large_second_layer: Table, small_second_layer: Table, *, member: Natural, top: Count) -> Plot:
    r"""The hidden layer's singular values when both layers start Gaussian.

    Solid lines show the singular values of $W_1$ along gradient flow, on the data of `fig1a`. The first $k$, as many as
    outputs, are coloured. Orange dashes show the limits that Corollary 3.1 gives an orthogonal layer of equal mean
    square with $W_2 = 0$. (a) The second layer $W_2$ starts larger. (b) $W_2$ starts smaller. The paper says of its
    Figure 4 that the evolution follows the trend predicted from $W_2 = 0$. We read this as: the first $k$ grow, and the
    others stay. The larger $W_2$ starts, the less $W_1$ has to grow: in (a) the first $k$ end further below the dashes.
    The $k$-th value may then not stand out from the others. The claim counts the draws on which it does.
    """
    tables = (large_second_layer, small_second_layer)
    titles = [
        rf"variance of $W_1$ {settings['variance']:g}, of $W_2$ {settings['output_variance']:g}"
        for settings in map(settings_of, tables)
    ]
    dashes = [line_handle("orthogonal, equal mean square", "vermilion", DASHES, 1.0)]
    figure = spectra_against_limits(titles, tables, member, top, height=2.7, entries=dashes)
    return Plot(
        figure, alt="Panels of singular values over time; the largest singular values rise, the others move little."
    )
