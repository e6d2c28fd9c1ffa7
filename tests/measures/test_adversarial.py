"""DeepFool, and distances to a change of decision, on networks of which the nearest boundary is known."""

import pytest
import torch

from learning_dynamics.measures.adversarial import crossing_distances, decisions, deepfool

OVERSHOOT = 0.02  # by which share a step leads beyond the boundary that it is to reach


def images(count: int, *shape: int) -> torch.Tensor:
    """Return standard normal images."""
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64)


def test_a_linear_network_is_fooled_just_beyond_its_nearest_boundary():
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(6, 12, generator=generator, dtype=torch.float64)  # of six classes
    biases = torch.randn(6, generator=generator, dtype=torch.float64)
    points = images(40, 3, 2, 2)

    def network(x):
        return x.flatten(1) @ weights.T + biases

    perturbations, fooled = deepfool(network, points, overshoot=OVERSHOOT)
    outputs = network(points)
    for point in range(40):
        own = outputs[point].argmax()
        # to the boundary with each other class
        distances = (outputs[point, own] - outputs[point]) / (weights - weights[own]).norm(dim=1)
        distances[own] = torch.inf
        # one step leads to the nearest boundary, and by the overshoot beyond it
        assert perturbations[point].norm() == pytest.approx((1 + OVERSHOOT) * float(distances.min()), rel=1e-9), point
    assert fooled.all()
    assert (network(points + perturbations).argmax(1) != outputs.argmax(1)).all()


def distance_by_newton(radius):
    """Return how far Newton's steps on |x|^2 - 1, lengthened by the overshoot, move a point into the sphere."""
    moved = 0.0
    while (here := radius - (1 + OVERSHOOT) * moved) > 1:
        moved += (here - 1 / here) / 2  # the function over its slope
    return (1 + OVERSHOOT) * moved


def test_a_point_reaches_a_sphere_along_its_radius_by_newtons_steps():
    """Two classes are divided by the unit sphere; points need between one and several steps, and are in two batches."""

    def network(x):
        inside = 1 - x.flatten(1).square().sum(dim=1)
        return torch.stack([inside, -inside], dim=1)

    radii = torch.linspace(1.01, 9.0, 10, dtype=torch.float64)
    points = radii[:, None] * torch.nn.functional.normalize(images(10, 5))
    perturbations, fooled = deepfool(network, points, overshoot=OVERSHOOT, batch=7)
    assert fooled.all()
    for point, perturbation, radius in zip(points, perturbations, radii, strict=True):
        torch.testing.assert_close(perturbation, -distance_by_newton(float(radius)) * point / radius)


def test_a_constant_network_is_not_fooled_and_its_images_stay_finite():
    first_of_three_classes = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)

    def network(x):
        return x @ torch.zeros(4, 3, dtype=torch.float64) + first_of_three_classes

    perturbations, fooled = deepfool(network, images(3, 4), iterations=3)
    assert not fooled.any()
    assert torch.isfinite(perturbations).all()


def half_planes(x):
    """Return the outputs of a network that decides by the sign of the first coordinate."""
    return torch.stack([x[:, 0], -x[:, 0]], dim=1)


def test_a_crossing_is_where_a_segment_meets_the_boundary():
    """The segment leads from an image to the nearest one of another decision."""
    points = torch.tensor([[1.0, 0.0], [2.0, 1.0], [-2.0, 0.0]])
    others = torch.tensor([[-2.0, 5.0], [3.0, 0.0], [-1.0, 0.0]])
    found = crossing_distances(half_planes, points, others, decisions(half_planes, others, batch=2), batch=2)
    # To (-1, 0) for the first two: half of a segment of 2, and two thirds of one of the root of 10. To (3, 0) for the
    # third: two fifths of 5
    expected = torch.tensor([1.0, 2 / 3 * 10**0.5, 2.0], dtype=torch.float64)
    # the segment is halved 20 times, and 2^-20 = 1e-6
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0)


def test_without_an_image_of_another_decision_there_is_no_crossing():
    points = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
    distances = crossing_distances(half_planes, points, points, decisions(half_planes, points, batch=2))
    assert torch.isinf(distances).all()
