"""Cohen 2019, slides on deep linear neural networks via trajectories of gradient descent.

They present Arora, Cohen and Hazan 2018 (acceleration by depth), Arora, Cohen, Golowich and Hu 2019 (convergence)
and Arora, Cohen, Hu and Luo 2019 (deep matrix factorisation). Claims and formulas name the slide
that has them. The deck prints few numbers, so slides are counted: pages with one title that follow each other are one
slide, however many steps reveal it; the title page is slide 1, each outline is a slide, and "Optimization" and
"Generalization", which come first, are slides 3 and 4. Which slides are which topic:

- `end_to_end`: slides 14 to 17, 21 and 33: balanced trajectories; implicit preconditioning; the law
  of the singular values
- `line_integral`: slide 18: trajectories cannot be emulated by regularisation
- `convergence`: slides 20 to 22: critical points; the guarantee for gradient descent and its assumptions; other
  convex losses
- `acceleration`: slide 24: acceleration by depth, on regressions
- `completion`: slides 26 to 29, 31 and 32: completion of low-rank matrices; the nuclear-norm conjecture
- `completion_table`: slides 31 and 32: the two printed tables, row by row
- `enough_entries`: slides 26, 31 and 32: how many observed entries are sufficiently many, by depth
- `completion_exponents`: slide 35: the first singular value beyond the rank, as a power of the initialisation scale
  (a law that we derive)
- `restricted_setting`: slides 30 and 32: current theory is oblivious to depth (commuting measurements,
  Schatten quasi-norms)
- `singular_values`: slides 33 and 35: singular values along descent; depth leads to larger gaps between them
- `one_entry`: slide 35: the theoretical example of one observed entry

In a topic, `quantities` has the names that its tables use, with their meaning.

Modules next to the topics: `networks` has layers, their product and its dynamics; `descent` has gradient descent on
layers, recorded as it goes, and `lp_regression` descent on regressions; `given_spectrum` has matrices to complete, and
`completed_matrices` networks that complete them; `recorded` makes trajectories of members' results; `quantities`,
`tables` and `drawing` have what several topics share.
"""
