"""What the paper predicts, as functions of arrays (Han, Papyan, Donoho 2022)."""

from __future__ import annotations

# -- the central path (section 3, appendix D) --------------------------------------------------

# -- training (section 2, appendices A and B) ---------------------------------------------------
