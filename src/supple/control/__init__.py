"""Laws that keep a flexible robot from shaking: sampled linear models, designs, and what closed loops do."""
