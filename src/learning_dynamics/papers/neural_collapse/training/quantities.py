"""Names of what is measured of a training, as they stand in the table's column ``quantity``.

`metrics.training` says of each how it is measured, on which images and when.
"""

from typing import Literal

# -- errors and sizes -------------------------------------------------------------------------------------------------

ERROR: str = "error"  # share of images misclassified; train and test
CLASS_ERROR: str = "class_error"  # the share within a class, averaged over classes; train and test
CLASSES: str = "classes"  # C
EXAMPLES: str = "examples"  # N, train images of each class
FEATURES: str = "features"  # P, the width of the last layer
DEAD_FEATURES: str = "dead_features"  # share of the P features that vanish on every train image

# -- collapse, of train and of test images (section 1.1) --------------------------------------------------------------

NC1: str = "nc1"  # Tr(Sigma_W pinv(Sigma_B)) / C
EQUINORM_MEANS: str = "equinorm_means"  # NC2: std over mean of the norms of centred class means
EQUINORM_CLASSIFIERS: str = "equinorm_classifiers"  # the same of the rows of W
EQUIANGULAR_MEANS: str = "equiangular_means"  # NC2: std of the cosines between centred class means
EQUIANGULAR_CLASSIFIERS: str = "equiangular_classifiers"  # the same of the rows of W
MAXIMAL_ANGLE_MEANS: str = "maximal_angle_means"  # NC2: mean of |cos + 1 / (C - 1)| over pairs of class means
MAXIMAL_ANGLE_CLASSIFIERS: str = "maximal_angle_classifiers"  # the same of the rows of W
SELF_DUALITY: str = "self_duality"  # NC3: || W^T / ||W||_F - M / ||M||_F ||_F^2
NC4: str = "nc4"  # share of images that network and nearest train class mean decide differently

# how a reader of the paper calls what claims on collapse are about
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

SNR: str = "snr"  # singular values omega_j of Sigma_W^(-1/2) M (eq. 8)
RANK: str = "rank"  # numerical rank of Sigma_W

# -- the loss and its terms (Theorems 1 and 2), under MSE -------------------------------------------------------------

LOSS: str = "loss"  # eq. 3, summed image by image, weight decay included
LOSS_DECAY: str = "loss_decay"  # lambda / 2 ||W||^2 in it
LOSS_NC1: str = "loss_nc1"  # L_NC1 = tr(W_LS (Sigma_W + lambda I) W_LS^T) / 2 (eq. 15)
LOSS_NC1_DECAY: str = "loss_nc1_decay"  # lambda / 2 ||W_LS||^2 in it
LOSS_NC23: str = "loss_nc23"  # L_NC2/3 = ||W_LS M - I||^2 / (2 C) (Theorem 2)
LOSS_LS_PERP: str = "loss_ls_perp"  # L_LS^perp, what W loses against the least-squares classifier W_LS (Theorem 1)
LOSS_LS_PERP_DECAY: str = "loss_ls_perp_decay"  # lambda / 2 ||W - W_LS||^2 in it

# the part of a term that weight decay adds to it; L_NC2/3 has none
DECAY_PART: dict[str, str] = {LOSS_NC1: LOSS_NC1_DECAY, LOSS_LS_PERP: LOSS_LS_PERP_DECAY}

Decay = Literal["trained", "notebook"]  # whose weight decay the terms have: the training's, or the authors' notebook's
# the same with the weight decay of the notebook, and with the least-squares classifier that belongs to it
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
    """Return the name of the loss or of a term of it under a weight decay."""
    return quantity if decay == "trained" else NOTEBOOK[quantity]


# -- L_LS^perp of a last layer that is trained on with its body frozen (`deviation.frozen_body`) -----------------------

SPLIT_SAMPLING: str = "split_sampling"  # on the fixed features of evaluation mode
SPLIT_BATCHES: str = "split_batches"  # on features that batch norm takes from each batch
SPLIT_REPLACED: str = "split_replaced"  # on fixed features, batches drawn with replacement
SPLIT_LAW: str = "split_law"  # first order of SPLIT_REPLACED in the learning rate

# -- robustness, relative to the norm of the image, mean over test images ----------------------------------------------

ROBUSTNESS: str = "robustness"  # DeepFool's perturbation, the paper's measure; where it changed no decision too
ROBUSTNESS_FOOLED: str = "robustness_fooled"  # share of images whose decision it did change
# distance to the change of decision on the straight way to the nearest train image that is decided differently
ROBUSTNESS_CROSSING: str = "robustness_crossing"
ROBUSTNESS_SMALLEST: str = "robustness_smallest"  # the smaller of it and of DeepFool's where that changed the decision
