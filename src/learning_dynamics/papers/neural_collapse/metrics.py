"""What is measured: the central path's spectra, and collapse along training."""

from __future__ import annotations

# -- the central path (section 3, appendix D) --------------------------------------------------

# -- training (section 2, appendices A and B) ---------------------------------------------------
