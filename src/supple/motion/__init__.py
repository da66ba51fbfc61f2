"""How the machine is moved: profiles, signals, and the motion file read into numbers. No equations."""
