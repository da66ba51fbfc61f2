"""Finite-element models: matrices or modes at nodes, solids, and the files of other programs."""
