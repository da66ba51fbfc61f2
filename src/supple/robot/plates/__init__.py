"""Plates: figures, meshes, Kirchhoff and Mindlin elements, refined until the frequencies stand still."""
