"""Check of a script before it runs as an elastic job: ``python -m kastor.check -- python train.py``."""
