"""Yun, Krishnan, Mobahi 2021, A unifying view on implicit bias in training linear neural networks.

Which sections and results are which topic:

- `network`: 3, figure 2, invariants of appendices D, F and H
- `classification`: 4.1, 4.2, A.1, A.2, C, D: Theorems 1 and 2, Corollaries 1 to 3, Remarks 2 and 3
- `local_optima`: 4.1, A.1, which of the limits that Corollary 2 leaves: ours
- `filters`: 4.3, A.3, E: Theorem 3 and Corollary 4
- `rates`: D.1.1, E.1.1, (62), (73), H.1: how fast the loss falls
- `regression`: 5.1, A.4, F: Theorem 4, Lemma 5.1, Corollaries 5 and 6, Remark 4
- `matrix_sensing`: A.4, F: Corollary 7
- `deep_networks`: 5.3, H: Theorem 6
- `descent`: 5.2, 6, G, figures 1 and 3: Theorem 5 and the experiments

A topic's `quantities` names what its tables measure. What several topics share: the networks (`tensor_network`,
`architectures`, `starts`), their flows (`exponential_flow`, `squared_flow`), the norm-like function of section 5.1
(`norm_like`), the closed form for two layers on one point (`one_point`), the solutions of least norm and largest
margin (`solutions`), distances (`distances`), and the checks of where flows end (`limit_checks`).
"""
