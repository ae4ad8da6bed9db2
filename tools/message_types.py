"""Write the TypeScript declarations of the web API, against which the board's JavaScript is type-checked.

They are derived from the server's OpenAPI schema. `make stubs` runs this module; a test fails if the file is stale.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from tengen.web.app import create_app
from tengen.web.messages.base import Problem
from tengen.web.messages.events import ServerMessage
from tengen.web.messages.requests import ClientMessage

TARGET = Path(__file__).parents[1] / "src" / "tengen" / "web" / "static" / "js" / "messages.d.ts"

Schema: TypeAlias = dict[str, Any]
"""A part of an OpenAPI schema."""

_HEADER = "// Written by `make stubs` from tengen.web.messages and the routes. Do not edit.\n"
_SOCKET = "/socket"
_SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def declarations() -> str:
    """Return the text of `messages.d.ts`: every message, both directions of the socket, and the JSON routes."""
    description = _description()
    socket = description["paths"].pop(_SOCKET)["post"]
    parts = [
        _HEADER,
        *(_declaration(name, schema) for name, schema in description["components"]["schemas"].items()),
        f"export type ClientMessage = {_type(_content(socket['requestBody']))};\n",
        f"export type ServerMessage = {_type(_content(socket['responses']['200']))};\n",
        _routes(description["paths"]),
    ]
    return "\n".join(parts)


def _description() -> Schema:
    """Return the OpenAPI schema with the socket as an extra route, so that it includes the socket's messages."""
    app = create_app()

    @app.post(_SOCKET, responses={422: {"model": Problem}})
    def socket(message: ClientMessage) -> ServerMessage:
        raise NotImplementedError(message)

    return app.openapi()


def _declaration(name: str, schema: Schema) -> str:
    name = _identifier(name)
    if "properties" not in schema:
        return f"export type {name} = {_type(schema)};\n"
    # Constants distinguish the members of a union, so they are always required.
    constants = {field for field, value in schema["properties"].items() if "const" in value}
    required = constants | set(schema.get("required", ()))
    fields = "".join(
        f"  {field}{'' if field in required else '?'}: {_type(value)};\n"
        for field, value in schema["properties"].items()
    )
    return f"export interface {name} {{\n{fields}}}\n"


def _routes(paths: Schema) -> str:
    """Return the interface `Routes`: for each method and path, the types of its parameters, body and answer."""
    lines = [
        f'  "{method.upper()} {path}": {_route(operation)};\n'
        for path, methods in paths.items()
        for method, operation in methods.items()
        if _answer(operation)
    ]
    return "export interface Routes {\n" + "".join(lines) + "}\n"


def _route(operation: Schema) -> str:
    body = _type(_content(operation["requestBody"])) if "requestBody" in operation else "undefined"
    parameters = operation.get("parameters", [])
    fields = {place: _parameters(parameters, place) for place in ("path", "query")}
    return f"{{ path: {fields['path']}; query: {fields['query']}; body: {body}; answer: {_type(_answer(operation))} }}"


def _parameters(parameters: list[Schema], place: str) -> str:
    fields = [
        f"{each['name']}{'' if each['required'] else '?'}: {_type(each['schema'])}"
        for each in parameters
        if each["in"] == place
    ]
    return f"{{ {'; '.join(fields)} }}" if fields else "{}"


def _answer(operation: Schema) -> Schema:
    """Return the schema of a successful answer; empty for a route that does not return JSON."""
    success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    return _content(success)


def _content(body: Schema) -> Schema:
    content: Schema = body["content"].get("application/json", {}).get("schema", {})
    return content


def _type(schema: Schema) -> str:
    """Return the TypeScript type of a JSON schema; raise ValueError for one that has no exact type."""
    if "$ref" in schema:
        return _identifier(schema["$ref"].rsplit("/", 1)[-1])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(_type(each) for each in schema[union])
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
    kind = schema.get("type")
    if kind == "array":
        return f"Array<{_type(schema['items'])}>"
    if kind == "object":
        return _mapping(schema)
    if kind in _SCALARS:
        return _SCALARS[kind]
    raise ValueError(f"no TypeScript type for the schema {json.dumps(schema)}; give the message an exact type")


def _mapping(schema: Schema) -> str:
    """Return the type of a mapping. If its keys are an enumeration, every key is optional."""
    keys = schema.get("propertyNames", {})
    values = schema.get("patternProperties", {}).values() or [schema["additionalProperties"]]
    value = " | ".join(_type(each) for each in values)
    if "$ref" in keys or "enum" in keys:
        return f"{{ [key in {_type(keys)}]?: {value} }}"
    return f"{{ [key: string]: {value} }}"


def _identifier(name: str) -> str:
    """Return a schema's name as an identifier: `Record-Input` becomes `RecordInput`."""
    return name.replace("-", "")


if __name__ == "__main__":
    TARGET.write_text(declarations(), encoding="utf-8", newline="\n")
