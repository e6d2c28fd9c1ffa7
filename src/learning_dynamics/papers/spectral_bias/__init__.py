"""Varre, Vladarean, Pillaud-Vivien, Flammarion 2023, On the spectral bias of two-layer linear networks."""
