"""How motion is written: one literature method per file, all returning the same record."""
