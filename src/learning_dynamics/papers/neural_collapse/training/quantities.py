"""Names of what is measured of a training, as they stand in the table's column ``quantity``.

`metrics.training` says of each how it is measured, on which images and when.
"""

from typing import Literal

from learning_dynamics.tidy import Quantity

# -- errors and sizes -------------------------------------------------------------------------------------------------

ERROR: Quantity = "error"  # share of images misclassified; train and test
CLASS_ERROR: Quantity = "class_error"  # the share within a class, averaged over classes; train and test
CLASSES: Quantity = "classes"  # C
EXAMPLES: Quantity = "examples"  # N, train images of each class
FEATURES: Quantity = "features"  # P, the width of the last layer
DEAD_FEATURES: Quantity = "dead_features"  # share of the P features that vanish on every train image

# -- collapse, of train and of test images (section 1.1) --------------------------------------------------------------

NC1: Quantity = "nc1"  # Tr(Sigma_W pinv(Sigma_B)) / C
EQUINORM_MEANS: Quantity = "equinorm_means"  # NC2: std over mean of the norms of centred class means
EQUINORM_CLASSIFIERS: Quantity = "equinorm_classifiers"  # the same of the rows of W
EQUIANGULAR_MEANS: Quantity = "equiangular_means"  # NC2: std of the cosines between centred class means
EQUIANGULAR_CLASSIFIERS: Quantity = "equiangular_classifiers"  # the same of the rows of W
MAXIMAL_ANGLE_MEANS: Quantity = "maximal_angle_means"  # NC2: mean of |cos + 1 / (C - 1)| over pairs of class means
MAXIMAL_ANGLE_CLASSIFIERS: Quantity = "maximal_angle_classifiers"  # the same of the rows of W
SELF_DUALITY: Quantity = "self_duality"  # NC3: || W^T / ||W||_F - M / ||M||_F ||_F^2
NC4: Quantity = "nc4"  # share of images that network and nearest train class mean decide differently

# -- spectra of train features (section 3.2) --------------------------------------------------------------------------

SNR: Quantity = "snr"  # singular values omega_j of Sigma_W^(-1/2) M (eq. 8)
RANK: Quantity = "rank"  # numerical rank of Sigma_W

# -- the loss and its terms (Theorems 1 and 2), under MSE -------------------------------------------------------------

LOSS: Quantity = "loss"  # eq. 3, summed image by image, weight decay included
LOSS_DECAY: Quantity = "loss_decay"  # lambda / 2 ||W||^2 in it
LOSS_NC1: Quantity = "loss_nc1"  # L_NC1 = tr(W_LS (Sigma_W + lambda I) W_LS^T) / 2 (eq. 15)
LOSS_NC1_DECAY: Quantity = "loss_nc1_decay"  # lambda / 2 ||W_LS||^2 in it
LOSS_NC23: Quantity = "loss_nc23"  # L_NC2/3 = ||W_LS M - I||^2 / (2 C) (Theorem 2)
LOSS_LS_PERP: Quantity = "loss_ls_perp"  # L_LS^perp, what W loses against the least-squares classifier W_LS (Theorem 1)
LOSS_LS_PERP_DECAY: Quantity = "loss_ls_perp_decay"  # lambda / 2 ||W - W_LS||^2 in it

# the part of a term that weight decay adds to it; L_NC2/3 has none
DECAY_PART: dict[Quantity, Quantity] = {LOSS_NC1: LOSS_NC1_DECAY, LOSS_LS_PERP: LOSS_LS_PERP_DECAY}

Decay = Literal["trained", "notebook"]  # whose weight decay the terms have: the training's, or the authors' notebook's
# the same with the weight decay of the notebook, and with the least-squares classifier that belongs to it
NOTEBOOK: dict[Quantity, Quantity] = {
    LOSS: "loss--notebook",
    LOSS_DECAY: "loss_decay--notebook",
    LOSS_NC1: "loss_nc1--notebook",
    LOSS_NC1_DECAY: "loss_nc1_decay--notebook",
    LOSS_NC23: "loss_nc23--notebook",
    LOSS_LS_PERP: "loss_ls_perp--notebook",
    LOSS_LS_PERP_DECAY: "loss_ls_perp_decay--notebook",
}


def with_decay(quantity: Quantity, decay: Decay) -> Quantity:
    """Return the name of the loss or of a term of it under a weight decay."""
    return quantity if decay == "trained" else NOTEBOOK[quantity]


# -- L_LS^perp of a last layer that is trained on with its body frozen (`deviation.frozen_body`) -----------------------

SPLIT_SAMPLING: Quantity = "split_sampling"  # on the fixed features of evaluation mode
SPLIT_BATCHES: Quantity = "split_batches"  # on features that batch norm takes from each batch
SPLIT_REPLACED: Quantity = "split_replaced"  # on fixed features, batches drawn with replacement
SPLIT_LAW: Quantity = "split_law"  # first order of SPLIT_REPLACED in the learning rate

# -- robustness, relative to the norm of the image, mean over test images ----------------------------------------------

ROBUSTNESS: Quantity = "robustness"  # DeepFool's perturbation, the paper's measure
ROBUSTNESS_FOOLED: Quantity = "robustness_fooled"  # share of images whose decision it did change
ROBUSTNESS_CROSSING: Quantity = "robustness_crossing"  # change of decision on the way to the nearest other train image
ROBUSTNESS_SMALLEST: Quantity = "robustness_smallest"  # the smaller of both
