"""Claims on the central path: spectral losses, the rates of both flows, their limits, and the described algorithm.

- `losses`: Lemma 1
- `singular_values`: Propositions 2 and 4, Lemmas 5 and 6, Corollary 1, the described algorithm
- `neural_collapse`: Corollary 2, Theorem 3
- `within_class_covariance`: the trace of appendix D.6, the rank of footnote 12
- `implications`: what small traces, NC1 and NC2 do not imply
- `separation`: Definition 2, what the rank and the singular values of the SNR matrix say of classes
"""
