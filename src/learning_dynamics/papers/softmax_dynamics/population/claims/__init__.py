"""That the three phases emerge, what is necessary for them, and over which population of features they show.

- `phases`: the three phases
- `necessity`: skewed classes and a bottleneck are necessary
- `sufficiency`: skewed classes and a bottleneck suffice, and the population decides
"""
