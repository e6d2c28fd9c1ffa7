"""Random streams: every draw comes from a seed in the configuration and a label in the code."""

import zlib

import numpy as np


def seed_sequence(seed: int, label: str, member: int) -> np.random.SeedSequence:
    """Return the seed sequence of one ensemble member's draw named `label`.

    Streams with different labels or members are independent; a member's draws do not depend on how many
    members there are.
    """
    return np.random.SeedSequence(entropy=seed, spawn_key=(zlib.crc32(label.encode()), member))


def generators(seed: int, label: str, members: int) -> list[np.random.Generator]:
    """Return one independent generator for each of `members` ensemble members."""
    return [np.random.default_rng(seed_sequence(seed, label, member)) for member in range(members)]
