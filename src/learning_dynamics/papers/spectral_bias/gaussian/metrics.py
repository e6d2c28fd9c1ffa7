"""Spectra and distances along flows from Gaussian layers.

Shapes: as `layers` lists them; the run's setting `width` is that of the network, not the number of hidden directions in
which layers are recorded.
"""

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.layers import FLOW_COLUMNS, flow_table, spectra_of
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA, SIGMA_W1
from learning_dynamics.tidy import Tables, columns
from learning_dynamics.trajectories import Trajectory


@columns(*FLOW_COLUMNS)
def gaussian_flow(trajectory: Trajectory) -> Tables:
    """Measure the flow from Gaussian layers, along the flow and at its limit.

    Quantities
    ----------
    `layers.spectra_and_loss`
        Along the flow and at the limit.
    sigma_w1
        Singular values of W1; predicted at the limit those of Corollary 3.1 for the orthogonal layer of equal mean
        square, gamma = width * variance / 2.
    """
    settings = trajectory.settings
    limit = spectra_of(trajectory, limit=True)
    X, Y = trajectory.constants["X"][:, None], trajectory.constants["Y"][:, None]
    # sigma_i(beta_*); rows of W1 have the squared length width * variance at first, on average, orthogonal ones 2 gamma
    star = singular_values(theory.minimum_norm_interpolator(X, Y), limit[SIGMA_BETA].shape[-1])
    predicted = theory.hidden_singular_values(star, settings["width"] * settings["variance"] / 2, X.shape[-1])
    limit[SIGMA_W1] = (limit[SIGMA_W1], predicted)
    return flow_table(trajectory, spectra_of(trajectory), limit)
