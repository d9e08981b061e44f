"""Conformance kit of the agent protocol: a scripted operator that tests any client by its requests.

``python -m kastor.conformance -- COMMAND…`` starts replicas of a command and prints a line for each rule.
It needs the standard library and the command ``openssl``, for a certificate.
"""
