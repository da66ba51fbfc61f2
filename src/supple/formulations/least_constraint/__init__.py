"""Gauss' principle of least constraint, body by body: accelerations without a mass matrix."""
