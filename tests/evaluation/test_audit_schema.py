"""The JSON of an audit has the form of the published schema, and no field beside it."""

import json

import pytest
from jsonschema import Draft202012Validator

import foilworks
from evaluation.audit.audit import SCHEMA
from scripts.doc_pages import DOCS

PUBLISHED = json.loads((DOCS / "schema" / f"audit-{SCHEMA}.json").read_text(encoding="utf-8"))
ROWS = [
    {"caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}", "video": f"v{n}", "subtest": "ab"[n % 2]}
    for n in range(4)
]


def unknown_fields(document, schema, path=""):
    """Yield the paths of fields that the schema does not describe."""
    if "$ref" in schema:
        schema = PUBLISHED["$defs"][schema["$ref"].rpartition("/")[2]]
    for form in schema.get("anyOf", []):
        if form.get("type") != "null" and document is not None:
            yield from unknown_fields(document, form, path)
    if isinstance(document, list) and "items" in schema:
        for row in document:
            yield from unknown_fields(row, schema["items"], path)
    if isinstance(document, dict) and "properties" in schema:
        for name, value in document.items():
            if name in schema["properties"]:
                yield from unknown_fields(value, schema["properties"][name], f"{path}/{name}")
            else:
                yield f"{path}/{name}"


@pytest.mark.parametrize(
    "data", [ROWS, pytest.param(str(DOCS / "examples" / "data" / "vilma-actor-swap.jsonl"), marks=pytest.mark.full)]
)
def test_a_real_audit_has_the_form_of_the_published_schema(data):
    document = json.loads(foilworks.audit(data).to_json())
    validator = Draft202012Validator(PUBLISHED)
    validator.check_schema(PUBLISHED)
    assert not [error.message for error in validator.iter_errors(document)]
    assert not [*unknown_fields(document, PUBLISHED)]
    del document["verdict"]
    assert not validator.is_valid(document)
