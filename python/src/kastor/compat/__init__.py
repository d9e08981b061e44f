"""Interfaces of other schedulers' clients, for scripts that were written for them."""
