"""What we show. Sees results and geometry only."""
