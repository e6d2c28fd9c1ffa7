"""Cohen 2019, slides on deep linear neural networks via trajectories of gradient descent.

They present Arora, Cohen and Hazan 2018 (acceleration by depth), Arora, Cohen, Golowich and Hu 2019 (convergence)
and Arora, Cohen, Hu and Luo 2019 (deep matrix factorisation).
"""
