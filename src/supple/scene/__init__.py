"""What is drawn of a robot: surfaces of its bodies and joints, and where they are."""
