"""Li, Agrawal, Ghosh et al. 2025, Tracing the representation geometry of language models, appendix B."""
