"""Describe the JSON of an audit as a JSON Schema, from the records that it is written from.

`docs/schema/audit-VERSION.json` is the published one; `scripts/reference.py update` writes it. A version may get new
fields; a change of a meaning raises it (`evaluation.audit.audit.SCHEMA`).
"""

from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from evaluation.audit.audit import SCHEMA
from evaluation.audit.check_texts import Words
from evaluation.audit.measures import Measure
from evaluation.audit.open_questions import OpenResult
from evaluation.audit.records import Finding, Verdict
from evaluation.audit.shortcuts import ShortcutResult
from foilworks.core.solver.solution import ItemScore, KindResult, Solution, Tier, TierResult

VERSION_FIELD = "schema_version"


def json_schema() -> dict[str, Any]:
    """Return the schema of the document of `foilworks audit --json`, in JSON Schema 2020-12."""
    finding = _record("FindingOfCheck", Finding, Words)
    solved = _record("WithoutVideo", TierResult, Solution, leave_out="items", headline=Tier, unit=str)
    subtest = _record(
        "Subtest",
        name=str,
        items=int,
        pairs=int,
        without_video=KindResult | None,
        findings=list[finding],
    )
    file = _record("AuditedFile", name=str, format=str, sha256=str)
    sample = _record("Sampled", max_items=int, seed=int, items=int)
    document = _record(
        "Audit",
        schema_version=Literal[SCHEMA],
        files=list[file],
        items=int,
        pairs=int,
        questions=int,
        options=dict[str, int],
        hard_foils=dict[str, int],
        sample=sample,
        verdict=Verdict,
        without_video=solved | None,
        records=dict[str, int],
        measures=dict[str, _record("Measure", Measure)],
        shortcuts=list[_record("Shortcut", ShortcutResult)],
        open_answers=list[_record("OpenAnswers", OpenResult)],
        findings=list[finding],
        subtests=list[subtest],
        item_scores=list[ItemScore],
    )
    schema = document.model_json_schema(mode="serialization")
    schema["properties"]["ladder"] = {"type": "object", "description": "with predictions or scores only"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"audit-{SCHEMA}.json", **schema}


def _record(title: str, /, *records: Any, leave_out: str = "", **columns: Any) -> type[BaseModel]:
    """Return a model of all fields of some records, and of `columns`; it allows further fields."""
    types = {name: kind for record in records for name, kind in get_type_hints(record).items() if name != leave_out}
    definitions: dict[str, Any] = {name: (kind, ...) for name, kind in (types | columns).items()}
    if VERSION_FIELD in definitions:
        # `schema` is a method of pydantic's models.
        definitions[VERSION_FIELD] = (columns[VERSION_FIELD], Field(serialization_alias="schema"))
    return create_model(title, __config__=ConfigDict(extra="allow"), **definitions)
