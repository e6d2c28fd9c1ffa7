"""Classification of separable data: Theorems 1 and 2, Corollaries 1 to 3, Remarks 2 and 3, and how slowly they show.

- `directions`: Theorem 1, equation (14)
- `max_margin`: Theorem 2, Corollaries 1 to 3, Remarks 2 and 3
- `starts`: whether the limit depends on the start
- `rates`: powers of log t
"""
