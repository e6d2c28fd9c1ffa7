"""What is concluded: each claim of the paper held against the measurements."""

from __future__ import annotations

# -- the central path (section 3, appendix D) --------------------------------------------------

# -- training (section 2, appendices A and B) ---------------------------------------------------
