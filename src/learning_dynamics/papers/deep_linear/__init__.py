"""Cohen 2019, slides on deep linear neural networks via trajectories of gradient descent.

They present Arora, Cohen and Hazan 2018 (acceleration by depth), Arora, Cohen, Golowich and Hu 2019 (convergence)
and Arora, Cohen, Hu and Luo 2019 (deep matrix factorisation). Which part of the slides is which topic:

- `end_to_end`: balanced trajectories; implicit preconditioning; the law of the singular values
- `line_integral`: trajectories cannot be emulated by regularisation
- `convergence`: critical points; the guarantee for gradient descent and its assumptions; other convex losses
- `acceleration`: acceleration by depth, on regressions
- `completion`: completion of low-rank matrices; the nuclear-norm conjecture
- `completion_table`: the two printed tables, row by row
- `enough_entries`: how many observed entries are sufficiently many, by depth
- `completion_exponents`: what is left beyond the rank, as a power of the scale: a law of ours
- `restricted_setting`: current theory is oblivious to depth: commuting measurements, Schatten quasi-norms
- `singular_values`: singular values along the way: depth leads to larger gaps
- `one_entry`: theoretical example: one observed entry

`networks` has layers, their product and its dynamics; `descent` gradient descent on layers, recorded as it goes;
`given_spectrum` matrices to complete, `completed_matrices` networks that complete them; `recorded` what runs keep of
their members; `tables` and `drawing` what tables and figures of several topics share.
"""
