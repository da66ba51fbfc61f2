"""How an equation is computed. Knows expressions only."""
