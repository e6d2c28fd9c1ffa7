"""Names of what `metrics.relu_descent` measures of a ReLU student; `metrics` writes them, claims and figures read them.

W is the hidden layer, with neurons as rows; the teacher's span is that of its neurons.
"""

RANK = "rank"  # how many singular values carry a share of |W|^2, which the column ``index`` has in percent
# first and last time of each plateau of the loss, where -d log L / d log t is below a slope
PLATEAU_START = "plateau_start"
PLATEAU_END = "plateau_end"

# at the end
# cosines of the principal angles between the teacher's span and that of as many first right singular vectors of W
TEACHER_COSINE = "teacher_cosine"
CHANCE_COSINE = "chance_cosine"  # the same for a span drawn at random
INSIDE = "inside"  # |W B|^2 / |W|^2, with an orthonormal basis B of the teacher's span
CHANCE_INSIDE = "chance_inside"  # the mean of this share for a random matrix: the teacher's neurons over the inputs
