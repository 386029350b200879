"""Render the API reference for people from the OpenAPI document, without a script."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from foilworks.core.projects.templatetags.wording import with_code
from foilworks.site.api.api import ABOUT, api

METHODS = ("get", "post", "patch", "delete")
# The class of a method's badge: reads, writes and deletions look different.
TONES = {"get": "badge-info", "post": "badge-good", "patch": "badge-warn", "delete": "badge-bad"}


@require_safe
@login_not_required
def api_docs(request: HttpRequest) -> HttpResponse:
    return render(request, "foilworks/api_docs.html", {"about": with_code(ABOUT), "groups": _groups()})


@cache
def _groups() -> list[tuple[str, list[dict[str, Any]]]]:
    """Return (tag, its operations) in the order of the document."""
    document = api.get_openapi_schema()
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                groups[methods[method]["tags"][0]].append(_operation(document, path, method, methods[method]))
    return list(groups.items())


def _operation(document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter["name"],
            "where": parameter["in"],
            "type": _type(parameter["schema"]),
            "required": parameter.get("required"),
        }
        for parameter in operation.get("parameters", [])
    ]
    content = operation.get("requestBody", {}).get("content", {})
    for kind, body in content.items():
        shape = _resolved(document, body["schema"])
        needed = shape.get("required", [])
        parameters += [
            {"name": name, "where": kind, "type": _type(schema), "required": name in needed}
            for name, schema in shape.get("properties", {}).items()
        ]
    first, _blank, rest = operation.get("description", "").partition("\n\n")
    return {
        "id": operation["operationId"],
        "method": method.upper(),
        "tone": TONES[method],
        "path": path,
        "segments": path.removeprefix("/").split("/"),
        # The first paragraph says what the operation does; the others are for those who use it.
        "summary": with_code(" ".join(first.split()) or operation.get("summary", "")),
        "about": with_code(rest),
        "parameters": parameters,
        "answers": sorted(str(status) for status in operation["responses"]),
    }


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a reference, or the one member of an allOf, names."""
    if "allOf" in schema:
        return _resolved(document, schema["allOf"][0])
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type in a word or two: its choices if it has some."""
    if "enum" in schema:
        return " | ".join(str(value) or "''" for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(choice) for choice in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return schema.get("$ref", "").rpartition("/")[2] or schema.get("format") or schema.get("type", "anything")
