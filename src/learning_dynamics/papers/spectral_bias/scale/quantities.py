"""Names of quantities at vanishing scales that the tables shorten; `metrics` writes them, claims read them."""

FIRST_GRADIENT = "growth"  # |X^T Y|, the rate at which both layers grow near zero
LEAST_SINGULAR_VALUE = "smallest"  # of beta_*, the least that is not zero
HALF_SQUARE = "parameters"  # half of |W1|^2 + |W2|^2 at the end
INCREASE_ELSEWHERE = "other_interpolators"  # least increase of the nuclear norm over random interpolators

# of the columns of W1 at the end
LARGEST_SINE = "misaligned"  # of the angle between a column and beta
PART_ACROSS = "across"  # |part of W1 off the first singular vector of beta| / |W1|
COMPONENTS_ALONG = "along"  # of each column along beta, over sigma_1(W1); predicted its share of the first gradient
SHARES_OF_BETA_STAR = "start"  # components of the columns along beta_* at the start, over sqrt(2 gamma)
