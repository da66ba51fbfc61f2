"""What was measured on a robot: tests and their files, responses from records, modes from responses, fits."""
