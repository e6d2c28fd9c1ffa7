"""Networks: their parameters, their vector fields, their initialisations."""
