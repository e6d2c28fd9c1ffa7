"""How far an image must move before a network changes its mind: DeepFool, and a bound that needs no gradients."""

from collections.abc import Callable

import torch
from torch import Tensor


def deepfool(
    network: Callable[[Tensor], Tensor],
    images: Tensor,
    *,
    overshoot: float = 0.02,
    iterations: int = 50,
    batch: int = 1024,
) -> tuple[Tensor, Tensor]:
    """Return small perturbations that change the network's decisions, by DeepFool in the l2 norm.

    Each step goes to the nearest face of the polyhedron that the linearised network draws around the image
    (Moosavi-Dezfooli, Fawzi, Frossard 2016, algorithm 2). For a linear network the first step ends at the
    nearest decision boundary exactly, times one plus the overshoot.

    Parameters
    ----------
    network : callable
        Images, shape (images, ...), to outputs, shape (images, classes), each image by itself (evaluation mode).
    images : Tensor
    overshoot : float
        Share by which perturbations are lengthened to cross the boundary rather than to touch it. The default is
        that of the authors' code.
    iterations : int
        After these an image counts as not fooled. The default is that of the authors' code.
    batch : int
        How many images go through the network at once.

    Returns
    -------
    perturbations : Tensor, shape of images
    fooled : Tensor of bool, shape (images,)
        Whether the decision did change.
    """
    if len(images) > batch:
        parts = [deepfool(network, part, overshoot=overshoot, iterations=iterations) for part in images.split(batch)]
        return torch.cat([moved for moved, _ in parts]), torch.cat([fooled for _, fooled in parts])
    perturbations = torch.zeros_like(images)
    with torch.no_grad():
        decided = network(images).argmax(dim=1)
    fooled = torch.zeros(len(images), dtype=torch.bool, device=images.device)
    for _ in range(iterations):
        active = (~fooled).nonzero().squeeze(1)
        if not len(active):
            break
        here = (images[active] + (1 + overshoot) * perturbations[active]).requires_grad_()
        outputs = network(here)
        changed = outputs.argmax(dim=1) != decided[active]
        fooled[active[changed]] = True
        if not bool(changed.all()):
            step = _step_to_nearest_face(outputs, here, decided[active])
            perturbations[active[~changed]] += step[~changed]
    return (1 + overshoot) * perturbations, fooled


def _step_to_nearest_face(outputs: Tensor, images: Tensor, decided: Tensor) -> Tensor:
    """Return the shortest step onto the boundary of the linearised network, shape of images."""
    classes = outputs.shape[1]
    slopes = torch.stack(
        [torch.autograd.grad(outputs[:, label].sum(), images, retain_graph=True)[0] for label in range(classes)], dim=1
    ).flatten(start_dim=2)
    chosen = torch.arange(len(outputs), device=outputs.device)
    relative = slopes - slopes[chosen, decided][:, None]
    gaps = (outputs[chosen, decided][:, None] - outputs).detach()
    lengths = relative.norm(dim=2)
    distances = torch.where(lengths > 0, gaps / lengths, torch.inf)
    distances[chosen, decided] = torch.inf
    nearest = distances.argmin(dim=1)
    length, direction = lengths[chosen, nearest], relative[chosen, nearest]
    # At least this far, beyond a boundary that is touched already, so that equal outputs do not stall. Chosen: outputs
    # then differ by about 1e-4 where slopes are large, and the step is 1e-4 at most where they are small.
    reach = distances[chosen, nearest].clamp(min=1e-4 / (1 + length))
    scale = torch.where(length > 0, reach / length, 0.0)
    return (scale[:, None] * direction).reshape(images.shape)


@torch.no_grad()
def decisions(network: Callable[[Tensor], Tensor], images: Tensor, *, batch: int) -> Tensor:
    """Return the class that a network decides for, shape (images,), `batch` images at a time."""
    return torch.cat([network(part).argmax(dim=1) for part in images.split(batch)])


@torch.no_grad()
def crossing_distances(
    network: Callable[[Tensor], Tensor],
    images: Tensor,
    others: Tensor,
    decided: Tensor,
    *,
    batch: int = 1024,
    halvings: int = 20,
) -> Tensor:
    """Return how far each image is from a change of decision on the way to the nearest other image that has one.

    The nearest of `others` that the network decides differently is found, and the segment to it is halved
    until it is clear where the decision changes. The smallest perturbation is no longer than that, whatever the
    gradients: where outputs are saturated, linearised steps as DeepFool's can be.

    Parameters
    ----------
    images, others : Tensor, shape (images, ...) and (others, ...)
    decided : Tensor of int, shape (others,)
        What the network decides for the others; see `decisions`.
    batch : int
        How many images are compared with each other or go through the network at once.
    halvings : int
        How often the segment is halved; 20 times find the crossing to a millionth of it.

    Returns
    -------
    Tensor, shape (images,)
        Euclidean distances; infinite where all others are decided alike.
    """
    found = []
    for part in images.split(batch):
        own = decisions(network, part, batch=batch)
        away = torch.full((len(part),), torch.inf, dtype=torch.float64, device=images.device)
        nearest = torch.zeros(len(part), dtype=torch.int64, device=images.device)
        for start in range(0, len(others), batch):
            against = slice(start, start + batch)
            distances = torch.cdist(part.flatten(1).double(), others[against].flatten(1).double())
            distances[own[:, None] == decided[against]] = torch.inf
            closer, place = distances.min(dim=1)
            nearest = torch.where(closer < away, start + place, nearest)
            away = torch.minimum(away, closer)
        found.append(away * _crossing(network, part, others[nearest], own, halvings))
    return torch.cat(found)


def _crossing(
    network: Callable[[Tensor], Tensor], images: Tensor, targets: Tensor, decided: Tensor, halvings: int
) -> Tensor:
    """Return the share of the way to its target, shape (images,), after which an image is decided differently."""
    low = torch.zeros(len(images), dtype=torch.float64, device=images.device)
    high = torch.ones_like(low)
    for _ in range(halvings):
        middle = (low + high) / 2
        share = middle.to(images.dtype).reshape(-1, *[1] * (images.dim() - 1))
        same = network(images + share * (targets - images)).argmax(dim=1) == decided
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    return high
