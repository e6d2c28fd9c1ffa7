"""Which plateau of a ReLU student's loss is the first saddle after the one at zero."""

import numpy as np
import pandas as pd

from learning_dynamics.papers.spectral_bias.relu.saddles import first_saddle_ranks, starts_at_zero


def test_the_second_plateau_is_the_first_saddle_only_if_the_first_is_at_zero():
    found = []
    # one draw starts on a plateau, one reaches its first late, one has none but the first
    for seed, starts in enumerate([(0.1, 40.0), (30.0, 40.0), (0.1,)]):
        found += [(seed, 0.0, "plateau_start", number, time) for number, time in enumerate(starts, start=1)]
        # a rank of its own at each time, so that one read at another time differs
        ranks = ((0.1, 3.0), (30.0, 2.0), (40.0, 1.0), (100.0, 4.0))
        found += [(seed, time, "rank", 95, rank) for time, rank in ranks]
    table = pd.DataFrame(found, columns=["seed", "time", "quantity", "index", "value"])
    np.testing.assert_array_equal(starts_at_zero(table), [True, False, True])
    np.testing.assert_array_equal(first_saddle_ranks(table, 95), [1.0, np.nan, np.nan])
