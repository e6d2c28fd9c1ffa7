"""Columns for the cell of a grid that a row belongs to, the member of the cell, its population and threshold."""

from learning_dynamics.tidy import Column

COUNTS = Column("counts", "str", "class sizes, largest first, joined by dashes", draw=True)
CLASSES = Column("classes", "int", "number of classes V", draw=True)
SKEWED = Column("skewed", "bool", "whether class sizes differ")
DIMENSION = Column("dimension", "int", "feature dimensions d", draw=True)
SCALE = Column("scale", "float", "standard deviation of the initial parameters", draw=True)
FEATURES_SCALE = Column("scale", "float", "standard deviation of the initial features", draw=True)
MEMBER = Column("seed", "int", "ensemble member within its cell", draw=True)
POPULATION = Column(
    "population", "str", "examples: a class counts as often as it has examples; classes: once; empty: neither"
)
THRESHOLD = Column("threshold", "float", "smallest change that counts as a fall or a rise; 0 for what needs none")
