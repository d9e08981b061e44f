"""Document of the agent API, and the check of requests against it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Schema = Mapping[str, Any]

MOST_REPORT_BYTES = 64 * 1024
MOST_CLIENT_CHARACTERS = 120

_MEMBERSHIP = "/v1/jobs/{namespace}/{name}/membership"
_WHOLE = {"int32": 2**31 - 1, "int64": 2**63 - 1}

# Fields that came after the first version of the protocol: a replica sends none that is newer than KASTOR_PROTOCOL.
_SINCE = {
    ("Outcome", "outOfMemoryAt"): 2,
    **{("TelemetryReport", field): 2 for field in ("scalars", "unsaved", "staleness", "droppedCopies")},
}

# What the document says of the parameters of a poll in words alone.
_PARAMETERS: dict[str, Callable[[str], bool]] = {
    "pod": lambda value: value != "",
    "address": lambda value: re.fullmatch(r"[A-Za-z0-9.:\[\]_-]{1,260}:[0-9]{1,5}", value) is not None,
    "generation": lambda value: value.isdecimal(),
    "phase": lambda value: value in ("STARTING", "READY", "TRAINING", "BROKEN"),
    "step": lambda value: re.fullmatch("-1|[0-9]+", value) is not None,
    "waiting": lambda value: value in ("true", "false"),
    "doing": lambda value: value in ("TRAIN", "EVALUATE", "SAVE", "LOAD", "COMPILE"),
    "wait": lambda value: value.isdecimal(),
    "client": lambda value: len(value) <= MOST_CLIENT_CHARACTERS,
    "mostExamples": lambda value: value.isdecimal(),
    "start": lambda value: re.fullmatch("(INITIAL|CHECKPOINT|PEERS),[0-9]{1,8},[0-9]{1,8}", value) is not None,
}
_REQUIRED = ("pod", "address", "generation", "phase")


class ApiDocument:
    """OpenAPI document of the agent API; it checks what a replica sends.

    Of OpenAPI it knows what this document uses; a schema with any other keyword is an error, so that
    nothing in it is passed over.
    """

    def __init__(self, document: Schema) -> None:
        self._schemas: Schema = document["components"]["schemas"]
        parameters = document["paths"][_MEMBERSHIP]["get"]["parameters"]
        self.poll_parameters = {p["name"] for p in parameters if p["in"] == "query"}

    @staticmethod
    def shipped() -> ApiDocument:
        """Document that the package ships, equal to ``docs/agent-api.yaml``."""
        return ApiDocument(json.loads(Path(__file__).with_name("agent-api.json").read_text("utf-8")))

    def wrong_poll(self, query: Mapping[str, str]) -> str:
        """What is wrong with the parameters of a poll; empty if nothing is."""
        for name in query:
            if name not in self.poll_parameters:
                return f"{name}: there is no such parameter"
        for name in _REQUIRED:
            if name not in query:
                return f"{name}: missing"
        return next((f"{n}={v!r}" for n, v in query.items() if n in _PARAMETERS and not _PARAMETERS[n](v)), "")

    def wrong_report(self, report: Any, size: int, protocol: int) -> str:
        """What is wrong with a report of ``size`` bytes under a version of the protocol; empty if nothing is."""
        if size > MOST_REPORT_BYTES:
            return f"a report may have {MOST_REPORT_BYTES} bytes but has {size}"
        wrong = self.wrong("TelemetryReport", report, protocol)
        return wrong or _wrong_together(report)

    def wrong(self, name: str, value: Any, protocol: int) -> str:
        """What is wrong with a value as one of the named schema; empty if nothing is."""
        return next(self._wrong(self._schemas[name], value, "", name, protocol), "")

    def _wrong(self, schema: Schema, value: Any, path: str, name: str, protocol: int) -> Iterator[str]:
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            yield from self._wrong(self._schemas[name], value, path, name, protocol)
            return
        unknown = set(schema) - _KEYWORDS
        if unknown:
            raise ValueError(f"the schema of {path or name} has keywords that are not checked: {sorted(unknown)}")
        kind = schema.get("type", "object")
        if not _TYPES[kind](value):
            yield f"{path or name}={value!r}: it must be of type {kind}"
            return
        yield from _out_of_bounds(schema, value, path or name)
        if kind == "array":
            for index, item in enumerate(value):
                yield from self._wrong(schema["items"], item, f"{path}[{index}]", name, protocol)
        elif kind == "object":
            yield from self._wrong_fields(schema, value, path, name, protocol)

    def _wrong_fields(self, schema: Schema, value: Schema, path: str, name: str, protocol: int) -> Iterator[str]:
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        before = f"{path}." if path else ""
        for missing in [field for field in schema.get("required", ()) if field not in value]:
            yield f"{before}{missing}: missing"
        for field, item in value.items():
            if "propertyNames" in schema:
                yield from self._wrong(
                    {"type": "string", **schema["propertyNames"]}, field, before + field, name, protocol
                )
            if field not in properties and not others:
                yield f"{before}{field}: there is no such field"
            elif _SINCE.get((name, field), 1) > protocol:
                yield f"{before}{field}: KASTOR_PROTOCOL is {protocol}, which does not have this field"
            elif field in properties or isinstance(others, dict):
                yield from self._wrong(properties.get(field, others), item, before + field, name, protocol)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
}

_KEYWORDS = {
    *("type", "format", "description", "enum", "minimum", "maximum", "maxLength", "maxItems", "items", "properties"),
    *("required", "additionalProperties", "maxProperties", "propertyNames", "pattern"),
}


def _out_of_bounds(schema: Schema, value: Any, path: str) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}={value!r}: it must be one of {', '.join(schema['enum'])}"
    if isinstance(value, (str, list, dict)):
        # The operator counts characters as UTF-16 does.
        length = len(value.encode("utf-16-le", "surrogatepass")) // 2 if isinstance(value, str) else len(value)
        most = schema.get("maxLength", schema.get("maxItems", schema.get("maxProperties", length)))
        if length > most:
            yield f"{path}: it may have {most} characters or entries but has {length}"
        if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
            yield f"{path}={value!r}: it must match {schema['pattern']}"
        return
    most = schema.get("maximum", _WHOLE.get(schema.get("format", ""), math.inf))
    least = schema.get("minimum", -math.inf)
    if not isinstance(value, bool) and not least <= value <= most:
        yield f"{path}={value!r}: it must be from {least} to {most}"


def _wrong_together(report: Mapping[str, Any]) -> str:
    """What is wrong with fields that are right each by itself."""
    for index, profile in enumerate(report["profiles"]):
        if profile["syncSeconds"] > profile["stepSeconds"]:
            return f"profiles[{index}].syncSeconds is above stepSeconds"
        if profile["nodes"] > profile["replicas"]:
            return f"profiles[{index}].nodes is above replicas"
    for scalar in report.get("scalars", {}):
        if scalar == "loss" or scalar.startswith("kastor/"):
            return f"scalars.{scalar} is a name of the operator's"
    batch = report["batch"]
    examples = report["replicas"] * batch["atomicBatchSize"] * (batch["accumulationSteps"] + 1)
    return "replicas * batch is above 2147483647" if examples > 2**31 - 1 else ""
