"""What the machine is: the robot file, bodies and their shape integrals, the mechanism. No equations."""
