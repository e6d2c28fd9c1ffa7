"""Names of what `metrics.relu_descent` measures of a ReLU student; `metrics` writes them, claims and figures read them.

The student is trained on labels of a ReLU network with few neurons, the teacher. W is the student's hidden layer, and
|.| the Frobenius norm. Both hidden layers have neurons as rows. The teacher's span is that of the rows of its layer.
"""

RANK = "rank"  # how many singular values of W carry a share of |W|^2, which the column `index` has in percent
# first and last time of each plateau of the loss L, a stretch on which -d log L / d log t is below a slope; the column
# `index` numbers plateaus in the order of time
PLATEAU_START = "plateau_start"
PLATEAU_END = "plateau_end"

# at the end
# cosines of the principal angles between the teacher's span and that of the first right singular vectors of W, as many
# as the teacher has neurons
TEACHER_COSINE = "teacher_cosine"
CHANCE_COSINE = "chance_cosine"  # the same for a random span of this dimension in place of the singular vectors
INSIDE = "inside"  # |W B|^2 / |W|^2, with an orthonormal basis B of the teacher's span as columns
CHANCE_INSIDE = "chance_inside"  # the mean of this share for a random matrix: the teacher's neurons over the inputs
