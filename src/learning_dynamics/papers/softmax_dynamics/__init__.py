"""Li, Agrawal, Ghosh et al. 2025, Tracing the representation geometry of language models: the toy model.

- `invariants`: eq. 12, Lemma B.1, Theorem B.2: free features, rates of singular values, what gradient flow conserves
- `growth`: Theorem B.3 and eq. 21: rates in proportion to the singular value, and to the size of the largest class
- `phases`: section 3.3 and Figure 4: the toy itself, its warm-up and its entropy-seeking phase
- `biases`: section 3.3: primacy bias, selection bias, the alignment of the two spaces
- `controls`: Figures 12 and 13: without skew, without bottleneck, under the squared loss
- `compression`: the third phase of Figure 4, searched for over skews, dimensions, numbers of classes and optimisers
- `training`: the phases at the paper's own size, and by optimiser, decay and batch size
- `population`: where all three phases show, what is necessary for them, and over which population of features

What holds in another form than printed, and slips that change no result (errata 9), are in
docs/errata/softmax_dynamics.md.
"""
