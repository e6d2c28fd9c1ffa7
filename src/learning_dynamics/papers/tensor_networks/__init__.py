"""Yun, Krishnan, Mobahi 2021, A unifying view on implicit bias in training linear neural networks.

Which sections and results are which topic:

- `network`: section 3 and figure 2; invariants of appendices D, F and H
- `classification`: sections 4.1 and 4.2, appendices A.1, A.2, C and D: Theorems 1 and 2,
  Corollaries 1 to 3, Remarks 2 and 3
- `local_optima`: sections 4.1 and A.1: which of the limits that Corollary 2 allows a network tends to; the statements
  are ours
- `filters`: section 4.3, appendices A.3 and E: Theorem 3 and Corollary 4
- `rates`: appendices D.1.1, E.1.1 and H.1, equations (62) and (73)
- `regression`: section 5.1, appendices A.4 and F: Theorem 4, Lemma 5.1, Corollaries 5 and 6, Remark 4
- `matrix_sensing`: appendices A.4 and F: Corollary 7
- `deep_networks`: section 5.3, appendix H: Theorem 6
- `descent`: sections 5.2 and 6, appendix G, figures 1 and 3: Theorem 5 and the experiments

A topic's `quantities` names what its tables measure. What several topics share: the networks (`tensor_network`,
`architectures`, `starts`), their flows (`exponential_flow`, `squared_flow`), the norm-like function of section 5.1
(`norm_like`), the closed form for two layers on one point (`one_point`), the solutions of least norm and largest
margin (`solutions`), distances (`distances`), and checks: of limits that are predicted entry by entry (`limit_checks`),
and of what settles like a power of log t (`log_time_checks`).
"""
