"""Names of what is measured of a training, the values of the table's column ``quantity``.

`metrics.training` says of each on which images it is measured and when. `epochs_at_full_rate` is what some are counted
from.

Symbols are the paper's. There are C classes with N train images each, and last-layer features h in R^P. The columns of
M, (P, C), are the class means less their average. Sigma_W is the covariance of features within classes (eq. 1), Sigma_B
that of the class means around their average. W, (C, P), are the weights of the last layer and b its biases; the rows of
W are called classifiers. lambda is the weight decay.

The loss and its terms are in extended features [h; 1]: there W is [W, b], (C, P + 1), M has the columns [mu_c; 1] with
the class means mu_c, not centred, and Sigma_W has a last row and column of zeros. W_LS is the least-squares classifier:
the W that minimises the loss of given features (Proposition 1), with the value L_LS = L_NC1 + L_NC2/3 (Theorem 2).
"""

from collections.abc import Mapping
from typing import Any, Literal


def epochs_at_full_rate(settings: Mapping[str, Any]) -> int:
    """Return how many epochs a training has before its learning rate first drops: all of them without drops.

    `settings` has ``epochs`` and ``drops``, the fractions of the epochs after which the rate drops.
    """
    drops = settings["drops"]
    first_drop = drops[0] if drops else 1.0
    return round(first_drop * settings["epochs"])


# -- errors and sizes -------------------------------------------------------------------------------------------------

ERROR: str = "error"  # share of images misclassified; of train and of test images
CLASS_ERROR: str = "class_error"  # share of a class's images misclassified, averaged over classes; train and test
CLASSES: str = "classes"  # C, the number of classes
EXAMPLES: str = "examples"  # N, the number of train images of each class
FEATURES: str = "features"  # P, the number of last-layer features
DEAD_FEATURES: str = "dead_features"  # share of the P features that vanish on every train image

# -- collapse (section 1.1), of train and of test images; what is of classifiers alone has no images -------------------

NC1: str = "nc1"  # tr(Sigma_W pinv(Sigma_B)) / C
# NC2: of the class means, which are the columns of M, or of the classifiers
EQUINORM_MEANS: str = "equinorm_means"  # standard deviation of the class means' norms, over the mean of these norms
EQUINORM_CLASSIFIERS: str = "equinorm_classifiers"  # the same of the classifiers
EQUIANGULAR_MEANS: str = "equiangular_means"  # standard deviation of the cosines over pairs of class means
EQUIANGULAR_CLASSIFIERS: str = "equiangular_classifiers"  # the same of the classifiers
MAXIMAL_ANGLE_MEANS: str = "maximal_angle_means"  # mean of |cos + 1 / (C - 1)| over pairs of class means
MAXIMAL_ANGLE_CLASSIFIERS: str = "maximal_angle_classifiers"  # the same of the classifiers
SELF_DUALITY: str = "self_duality"  # NC3: || W^T / ||W||_F - M / ||M||_F ||_F^2
NC4: str = "nc4"  # share of images that the network and the nearest train class mean decide differently

# how titles of checks call these quantities
IN_WORDS: dict[str, str] = {
    NC1: "NC1",
    EQUINORM_MEANS: "the relative spread of the class means' norms",
    EQUINORM_CLASSIFIERS: "the relative spread of the classifiers' norms",
    EQUIANGULAR_MEANS: "the spread of the class means' cosines",
    EQUIANGULAR_CLASSIFIERS: "the spread of the classifiers' cosines",
    MAXIMAL_ANGLE_MEANS: "the class means' mean distance from the largest angle",
    MAXIMAL_ANGLE_CLASSIFIERS: "the classifiers' mean distance from the largest angle",
    SELF_DUALITY: "the squared distance of classifiers from class means",
    NC4: "the share of images on which network and nearest mean differ",
}

# -- spectra of train features (section 3.2) --------------------------------------------------------------------------

SNR: str = "snr"  # the non-zero singular values omega_j of Sigma_W^(-1/2) M (eq. 8), descending
RANK: str = "rank"  # numerical rank of Sigma_W

# -- the loss and its terms (Theorems 1 and 2), under MSE, of train images, in extended features -----------------------

LOSS: str = "loss"  # L, the loss of W with its weight decay, from the error of every image (eq. 3)
LOSS_DECAY: str = "loss_decay"  # lambda / 2 ||W||^2, a part of LOSS
LOSS_NC1: str = "loss_nc1"  # L_NC1 = tr(W_LS (Sigma_W + lambda I) W_LS^T) / 2 (eq. 15)
LOSS_NC1_DECAY: str = "loss_nc1_decay"  # lambda / 2 ||W_LS||^2, a part of LOSS_NC1
LOSS_NC23: str = "loss_nc23"  # L_NC2/3 = ||W_LS M - I||^2 / (2 C) (Theorem 2)
LOSS_LS_PERP: str = "loss_ls_perp"  # L_LS^perp = L - L_LS, what W loses against W_LS, by its formula in Theorem 1
LOSS_LS_PERP_DECAY: str = "loss_ls_perp_decay"  # lambda / 2 ||W - W_LS||^2, a part of LOSS_LS_PERP

# by a term of the loss: the part of it that is weight decay. L_NC2/3 has no such part
DECAY_PART: dict[str, str] = {LOSS_NC1: LOSS_NC1_DECAY, LOSS_LS_PERP: LOSS_LS_PERP_DECAY}

Decay = Literal["trained", "notebook"]  # whose weight decay lambda is: the training's, or the authors' notebook's
# The names above are for the training's lambda. This maps each to the name for the notebook's lambda, under which W_LS
# is another matrix
NOTEBOOK: dict[str, str] = {
    LOSS: "loss--notebook",
    LOSS_DECAY: "loss_decay--notebook",
    LOSS_NC1: "loss_nc1--notebook",
    LOSS_NC1_DECAY: "loss_nc1_decay--notebook",
    LOSS_NC23: "loss_nc23--notebook",
    LOSS_LS_PERP: "loss_ls_perp--notebook",
    LOSS_LS_PERP_DECAY: "loss_ls_perp_decay--notebook",
}


def with_decay(quantity: str, decay: Decay) -> str:
    """Return the name under a weight decay of the loss or a part of it, given the name under the trained decay."""
    return quantity if decay == "trained" else NOTEBOOK[quantity]


# -- mean L_LS^perp of a last layer that is trained alone, from W_LS on, in batches (`deviation.frozen_body`) ----------

# The body, which is all layers below the last one, is frozen. L_LS^perp is always that on features of evaluation mode
SPLIT_SAMPLING: str = "split_sampling"  # trained on features of evaluation mode, which are the same in every batch
SPLIT_BATCHES: str = "split_batches"  # trained on features of training mode: batch norm has the batch's statistics
SPLIT_REPLACED: str = "split_replaced"  # as SPLIT_SAMPLING, but images of a batch are drawn with replacement
SPLIT_LAW: str = "split_law"  # predicted for SPLIT_REPLACED to first order in the learning rate

# -- robustness: a distance that changes an image's decision, over the norm of the image; mean over test images --------

ROBUSTNESS: str = "robustness"  # DeepFool's perturbation, the paper's measure; also where it changes no decision
ROBUSTNESS_FOOLED: str = "robustness_fooled"  # share of images whose decision DeepFool's perturbation changes
# the straight way to the nearest train image that is decided differently, up to where the decision changes
ROBUSTNESS_CROSSING: str = "robustness_crossing"
# for each image the shorter of both, or the straight way where DeepFool's perturbation does not change the decision
ROBUSTNESS_SMALLEST: str = "robustness_smallest"
