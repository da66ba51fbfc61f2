"""A robot's equations ready to be evaluated: its loops closed, its dynamics solved, its equilibrium found."""
