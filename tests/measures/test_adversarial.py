"""DeepFool on networks whose answer is known."""

import pytest
import torch

from learning_dynamics.measures.adversarial import crossing_distances, decisions, deepfool


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
        assert perturbations[point].norm() == pytest.approx(1.02 * float(distances.min()), rel=1e-9), point
    assert fooled.all()
    assert (network(points + perturbations).argmax(1) != outputs.argmax(1)).all()


def newton(radius, overshoot):
    """How far Newton's steps on |x|^2 - 1, lengthened, have moved a point when it is within the sphere."""
    moved = 0.0
    while (here := radius - (1 + overshoot) * moved) > 1:
        moved += (here - 1 / here) / 2
    return (1 + overshoot) * moved


def test_a_sphere_is_reached_along_its_radius():
    """Two classes divided by the unit sphere, and points that take several numbers of steps, in two batches."""

    def network(x):
        inside = 1 - x.flatten(1).square().sum(dim=1)
        return torch.stack([inside, -inside], dim=1)

    radii = torch.linspace(1.01, 9.0, 10, dtype=torch.float64)
    points = radii[:, None] * torch.nn.functional.normalize(images(10, 5))
    perturbations, fooled = deepfool(network, points, overshoot=0.02, batch=7)
    assert fooled.all()
    for point, moved, radius in zip(points, perturbations, radii, strict=True):
        torch.testing.assert_close(moved, -newton(float(radius), 0.02) / radius * point)


def test_a_constant_network_is_not_fooled():
    def network(x):
        return x @ torch.zeros(4, 3, dtype=torch.float64) + torch.eye(3, dtype=torch.float64)[0]

    perturbations, fooled = deepfool(network, images(3, 4), iterations=3)
    assert not fooled.any()
    assert torch.isfinite(perturbations).all()


def test_a_crossing_lies_where_the_segment_meets_the_boundary_if_another_decision_is_there():
    def network(x):
        return torch.stack([x[:, 0], -x[:, 0]], dim=1)

    points = torch.tensor([[1.0, 0.0], [2.0, 1.0], [-2.0, 0.0]])
    others = torch.tensor([[-2.0, 5.0], [3.0, 0.0], [-1.0, 0.0]])
    found = crossing_distances(network, points, others, decisions(network, others, batch=2), batch=2)
    # the nearest on the other side is (-1, 0) for the first two
    expected = torch.tensor([1.0, 2 / 3 * 10**0.5, 2.0], dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0)
    assert torch.isinf(crossing_distances(network, points[:2], points, torch.zeros(3, dtype=torch.int64))).all()
