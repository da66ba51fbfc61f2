"""The virtual tree: kinematics, loops, energies, forces; what every method stands on."""
