"""Class means and covariances of features that arrive in batches, accumulated in float64 where the features lie."""

import torch
from torch import Tensor


class ClassMoments:
    """Class means, C x P, and within-class covariance, P x P, in memory that does not grow with their number.

    Classes weigh equally, whatever their numbers of examples: covariances are averaged first within each
    class, then over classes. Means and covariance are complete when `counts` examples of each class have been added.

    Parameters
    ----------
    counts : Tensor of int, shape (C,)
        How many examples of each class there will be.
    features : int
        P.

    Attributes
    ----------
    means : Tensor, shape (C, P)
    within : Tensor, shape (P, P)
        The within-class covariance Sigma_W (Han, Papyan, Donoho 2022, eq. 1).
    """

    def __init__(self, counts: Tensor, features: int) -> None:
        self._weights = 1.0 / (counts.double() * len(counts))
        self._seen = torch.zeros(len(counts), dtype=torch.float64, device=counts.device)
        self.means = torch.zeros(len(counts), features, dtype=torch.float64, device=counts.device)
        self.within = torch.zeros(features, features, dtype=torch.float64, device=counts.device)

    def update(self, features: Tensor, labels: Tensor) -> None:
        """Add a batch: features, shape (examples, P), and their labels, on the same device.

        Batches are merged around their own means (Chan, Golub, LeVeque 1983), which loses no digits when
        the features have collapsed onto means far from zero.
        """
        features = features.double()
        belongs = torch.nn.functional.one_hot(labels, len(self._seen)).to(features)
        new = belongs.sum(dim=0)
        means = (belongs.T @ features) / new.clamp(min=1.0)[:, None]
        total = self._seen + new
        # the mean of a class without an example in the batch stays as it is
        shift = torch.where(new[:, None] > 0, means - self.means, 0.0)
        centred = (features - means[labels]) * self._weights[labels].sqrt()[:, None]
        between = self._seen * new / total.clamp(min=1.0) * self._weights
        self.within += centred.T @ centred + (shift * between[:, None]).T @ shift
        self.means += shift * (new / total.clamp(min=1.0))[:, None]
        self._seen = total
