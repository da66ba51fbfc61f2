"""Studies: many poses and designs of a robot, split into parts that processes and clusters work on."""
