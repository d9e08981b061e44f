"""Errors that a user of the client meets; each message says what to do."""

from __future__ import annotations


class KastorError(Exception):
    """Error of the client."""


class ConfigError(KastorError):
    """Error of the environment: a variable that is missing or wrong. Another try fails again."""


class UsageError(KastorError):
    """Error of the training script: a rule of elastic training is broken. Another try fails again."""


class CheckpointError(KastorError):
    """Error of a checkpoint that is damaged, of another job, or does not fit the model."""


class DivergedError(KastorError):
    """Error of a gradient that is not finite on all replicas: training on is of no use."""


class NotFiniteError(KastorError):
    """Error of a gradient that is not finite on this replica alone; another try may work."""


PERMANENT = (ConfigError, UsageError, CheckpointError, DivergedError)
"""Errors after which a restart would fail again."""
