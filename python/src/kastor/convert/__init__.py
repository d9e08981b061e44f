"""Conversion of a plain PyTorch script to an elastic one, as far as the code says it."""
