"""Han, Papyan, Donoho 2022, Neural collapse under MSE loss: Proximity to and dynamics on the central path.

Where to find what:

- ``training``: networks, their training and the passes that measure it (appendix A); every empirical topic reads it.
- ``collapse``: NC1 to NC4 along training (section 1.1, figures 3 to 8 and 10, appendix E.1).
- ``decomposition``: the least-squares classifier and the terms of the loss (section 2, appendices B and C, figure 2).
- ``central_path``: renormalised flows and the algorithm of appendix D.1 (sections 3.2 and 3.3, appendices D.2 to D.6).
- ``fibres``: invariance, the tangent space and its maps, simplex frames (section 3.1, propositions 3 and 4, lemmas 2 to
  4 and 7).
- ``generalisation``: test images and accuracies (table 1, figure 12, appendix A.8).
- ``perturbations``: perturbations that change decisions (figures 9 and 11).
- ``portrait``: features in the plane of three class means (figures 1 and 13).

``draws`` and ``trainings`` read the tables of both kinds of run; ``panels`` draws along epochs; ``selection`` chooses
learning rates (workflow/rules/neural_collapse.smk).
"""
