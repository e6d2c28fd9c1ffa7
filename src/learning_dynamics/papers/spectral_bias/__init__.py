"""Varre, Vladarean, Pillaud-Vivien, Flammarion 2023, On the spectral bias of two-layer linear networks.

Which part of the paper is which topic:

- ``flow``: the limit of gradient flow, Theorem 3.1 and Corollary 3.1; figure 1a
- ``proof``: the steps of the proofs of Theorem 3.1 and Corollary 3.1, Lemmas 3.2, C.3, C.4, C.6, C.10; balanced layers
  (section 2)
- ``gaussian``: Gaussian layers in place of orthogonal ones; figures 1a and 4
- ``reductions``: the smaller systems that the flow is equivalent to, Lemmas 3.1 and 3.3, Theorem 3.2, and the bound on
  the loss, Lemma C.8
- ``scale``: vanishing initial scales (sections 3.1 and 3.2): the time that training takes, the nuclear norm, alignment
- ``jump``: whitened data, where singular vectors stand still and singular values jump, Theorems C.11 and C.12
- ``descent``: discrete gradient descent, appendix C.1
- ``label_noise``: descent with label noise, figure 1b and the first half of appendix D
- ``noise``: the process that noise alone drives, Proposition 4.1 and figure 3
- ``relu``: ReLU students, figures 2 and 5

Shared by the topics:

- ``problems``: the regression problems
- ``two_layer``: the two-layer linear network; ``two_layer_flow``: its gradient flow, draw by draw
- ``layers``: spectra of its layers and distances of its predictor; norms and spans of stacks of matrices
- ``theory``: the paper's formulas, as functions of arrays
- ``quantities``: names of what several topics measure; each topic's own names are in its module of this name
- ``draws``: numbers of each draw, read off tables
- ``panels``: panels, lines and legends of several figures
"""
