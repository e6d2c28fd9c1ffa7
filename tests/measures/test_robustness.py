"""DeepFool on networks whose answer is known."""

import pytest
import torch

from learning_dynamics.measures.robustness import crossing_distances, decisions, deepfool
from learning_dynamics.papers.neural_collapse.training import models as convolutional


def images(count: int, *shape: int) -> torch.Tensor:
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64)


def test_a_linear_network_is_fooled_at_the_nearest_boundary():
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(6, 12, generator=generator, dtype=torch.float64)
    biases = torch.randn(6, generator=generator, dtype=torch.float64)
    points = images(40, 3, 2, 2)

    def network(x):
        return x.flatten(1) @ weights.T + biases

    perturbations, fooled = deepfool(network, points, overshoot=0.02)
    outputs = network(points)
    for point in range(40):
        own = outputs[point].argmax()
        distances = (outputs[point, own] - outputs[point]) / (weights - weights[own]).norm(dim=1)
        distances[own] = torch.inf
        assert perturbations[point].norm() == pytest.approx(1.02 * float(distances.min()), rel=1e-9)
    assert fooled.all()
    assert (network(points + perturbations).argmax(1) != outputs.argmax(1)).all()


def test_a_sphere_is_reached_along_its_radius():
    """Two classes divided by the unit sphere: Newton's steps on |x|^2 - 1 end on it."""

    def network(x):
        inside = 1 - x.flatten(1).square().sum(dim=1)
        return torch.stack([inside, -inside], dim=1)

    points = 3 * torch.nn.functional.normalize(images(10, 5))
    perturbations, fooled = deepfool(network, points, overshoot=1e-6)
    assert fooled.all()
    # the last step ends where the overshoot first crosses: within 1e-5 of the sphere
    torch.testing.assert_close(
        perturbations.norm(dim=1), torch.full((10,), 2.0, dtype=torch.float64), rtol=1e-4, atol=0
    )


def one_by_one(network, image, overshoot, iterations):
    """DeepFool for a single image as its authors state it, with loops over classes."""
    total = torch.zeros_like(image)
    own = int(network(image).argmax())
    for _ in range(iterations):
        here = (image + (1 + overshoot) * total).requires_grad_()
        outputs = network(here)[0]
        if int(outputs.argmax()) != own:
            break
        slope = torch.autograd.grad(outputs[own], here, retain_graph=True)[0]
        best = None
        for label in range(len(outputs)):
            if label == own:
                continue
            w = torch.autograd.grad(outputs[label], here, retain_graph=True)[0] - slope
            f = float((outputs[label] - outputs[own]).detach())
            if best is None or abs(f) / float(w.norm()) < best[0]:
                best = (abs(f) / float(w.norm()), w)
        total = total + best[0] * best[1] / best[1].norm()
    return (1 + overshoot) * total


def test_a_batch_is_fooled_as_its_images_are_one_by_one():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = convolutional.resnet(1, 4, stages=[1], width=4).double().eval()
    points = images(6, 1, 6, 6)
    network.requires_grad_(False)
    together, fooled = deepfool(network, points)
    assert fooled.all()
    for point in range(6):
        alone = one_by_one(network, points[point : point + 1], 0.02, 50)
        torch.testing.assert_close(together[point : point + 1], alone, rtol=1e-6, atol=1e-9)


def test_a_constant_network_is_not_fooled():
    def network(x):
        return x.flatten(1) @ torch.zeros(4, 3, dtype=torch.float64) + torch.tensor(
            [1.0, 0.0, 0.0], dtype=torch.float64
        )

    perturbations, fooled = deepfool(network, images(3, 4), iterations=3)
    assert not fooled.any()
    assert torch.isfinite(perturbations).all()


def test_a_crossing_lies_where_the_segment_meets_the_boundary():
    def network(x):
        return torch.stack([x[:, 0], -x[:, 0]], dim=1)

    points = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
    others = torch.tensor([[-1.0, 0.0], [-2.0, 5.0], [3.0, 0.0]])
    # the nearest on the other side is (-1, 0) for both
    expected = torch.tensor([1.0, 2 / 3 * 10**0.5], dtype=torch.float64)
    torch.testing.assert_close(
        crossing_distances(network, points, others, decisions(network, others, batch=2), batch=2),
        expected,
        rtol=1e-5,
        atol=0,
    )


def test_without_another_decision_there_is_no_crossing():
    points = torch.ones(2, 3)
    assert torch.isinf(crossing_distances(lambda x: x, points, points, decisions(lambda x: x, points, batch=1))).all()


def test_no_crossing_is_nearer_than_a_linear_networks_boundary():
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(4, 8, generator=generator, dtype=torch.float64)
    points = images(60, 8)
    exact, _ = deepfool(lambda x: x @ weights.T, points, overshoot=0.0)
    decided = decisions(lambda x: x @ weights.T, points, batch=7)
    whole = crossing_distances(lambda x: x @ weights.T, points, points, decided)
    batched = crossing_distances(lambda x: x @ weights.T, points, points, decided, batch=7)
    torch.testing.assert_close(batched, whole)
    assert (whole >= exact.norm(dim=1) * (1 - 1e-5)).all()
