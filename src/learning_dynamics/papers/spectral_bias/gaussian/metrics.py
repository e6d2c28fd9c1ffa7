"""Spectra and distances along flows from Gaussian layers.

Shapes: the docstring of `layers` lists those of the trajectory. The run's setting `width` is the width of the network,
and not the number of hidden directions in which layers are recorded.
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
        Singular values of W1. At the limit those are predicted that Corollary 3.1 gives for an orthogonal layer whose
        rows have the mean squared length of the Gaussian ones: gamma = width * variance / 2.
    """
    settings = trajectory.settings
    limit = spectra_of(trajectory, limit=True)
    X, Y = trajectory.constants["X"][:, None], trajectory.constants["Y"][:, None]
    # sigma_i(beta_*), shape (draws, 1, k). At first the rows of W1 have the squared length width * variance on average,
    # where orthogonal ones have 2 gamma
    star = singular_values(theory.minimum_norm_interpolator(X, Y), limit[SIGMA_BETA].shape[-1])
    predicted = theory.hidden_singular_values(star, settings["width"] * settings["variance"] / 2, X.shape[-1])
    limit[SIGMA_W1] = (limit[SIGMA_W1], predicted)
    return flow_table(trajectory, spectra_of(trajectory), limit)
