"""Robot files to begin with: new ones from templates, and those of other programs brought over."""
