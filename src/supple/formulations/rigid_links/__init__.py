"""The equivalent rigid-link system: links that move as if rigid, and small displacements from it."""
