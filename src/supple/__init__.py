"""supple: elastodynamics of flexible parallel robots."""
