"""Motion over time: the plant of a robot, its text in C, the integrators in C, and the stepper that runs them."""
