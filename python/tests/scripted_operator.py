"""Operator that tests steer: that of the conformance kit."""

from kastor.conformance.operator import JOB, NAMESPACE, ScriptedOperator, certificate

__all__ = ["JOB", "NAMESPACE", "ScriptedOperator", "certificate"]
