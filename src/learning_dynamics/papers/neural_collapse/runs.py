"""What is simulated and trained."""

from __future__ import annotations

# -- the central path (section 3, appendix D) --------------------------------------------------

# -- training (section 2, appendices A and B) ---------------------------------------------------
