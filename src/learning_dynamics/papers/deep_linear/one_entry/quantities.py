"""Quantities of one observed entry, as metrics write them and claims read them."""

DETERMINANT = "determinant"  # of the end-to-end matrix
PREDICTED_SIGN = "predicted_sign"  # the determinant's last sign, if the observed entry alone had moved to its target
