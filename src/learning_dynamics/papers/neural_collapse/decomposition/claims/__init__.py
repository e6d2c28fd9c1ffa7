"""Claims on the least-squares classifier and on the terms of the loss.

- `identities`: Propositions and theorems that hold of any features
- `small_terms`: what a term that is small implies
- `trainings`: the terms along the training of networks
"""
