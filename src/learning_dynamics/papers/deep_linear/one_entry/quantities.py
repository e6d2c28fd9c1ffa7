"""Quantities of one observed entry, as metrics write them and claims read them.

W is the end-to-end matrix, 2 by 2; its entry in the first row and second column is observed.
"""

DETERMINANT = "determinant"  # of W
# sign of the determinant of the first W with the observed entry put to its target: the sign at the end of the flow if
# no other entry moved
PREDICTED_SIGN = "predicted_sign"
