"""Many poses and designs at once: the robot's statics and its linear model, compiled with its parameters left free."""
