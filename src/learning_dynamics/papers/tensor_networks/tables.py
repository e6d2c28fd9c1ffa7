"""Columns that the tables of several topics have."""

from learning_dynamics.tidy import Column

NETWORK = Column("network", "str", "architecture", draw=True)
DEPTH = Column("depth", "int", "number of layers L", draw=True)
SCALE = Column("scale", "float", "initial scale alpha", draw=True)
SIGMA = Column("sigma", "float", "log(1 + log(1 + t))")
FOLLOWED = Column("value", "float", "measured; empty where the flow could not be followed", nullable=True)
