"""Classification of separable data: Theorems 1 and 2, Corollaries 1 to 3, Remarks 2 and 3, and how slowly they show.

- `directions`: Theorem 1, equation (14)
- `max_margin`: Theorem 2, Corollaries 1 to 3, Remarks 2 and 3
- `starts`: whether the limit depends on the start
- `rates`: powers of log t

In all of them time is the column `log_log_time`: log log t, exactly log(1 + log(1 + t)). A draw whose flow could not be
followed is nan in all quantities, and the judge counts it as undecided.
"""
