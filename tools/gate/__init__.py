"""Gate of the project: builds once, runs every kind of test in lanes, and says by name what failed or was left out."""
