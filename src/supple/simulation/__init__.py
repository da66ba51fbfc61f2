"""Simulations: the plant of a robot, what it starts from, runs side by side, and the signals they leave."""
