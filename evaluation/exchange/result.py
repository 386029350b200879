"""What an import did, counted: the JSON of `foilworks import`."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

KINDS = ("items", "captions", "proficiency_items", "videos", "subtests", "foils", "votes")


@dataclass
class ImportResult:
    """`created` and `unchanged` count rows by kind; `media` counts the clips of the file by state.

    `broken` names clips whose file cannot be used; `errors` and `warnings` are lines, `PATH:LINE: FIELD: …`.
    """

    format: str
    path: str
    project: str
    dry_run: bool
    records: int = 0
    created: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    attached: int = 0
    media: Counter[str] = field(default_factory=Counter)
    broken: list[dict[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "path": self.path,
            "project": self.project,
            "dry_run": self.dry_run,
            "records": self.records,
            "created": {kind: self.created[kind] for kind in KINDS},
            "unchanged": {kind: self.unchanged[kind] for kind in KINDS[:3]},
            "attached": self.attached,
            "media": {state: self.media[state] for state in ("ready", "missing", "broken")},
            "broken": self.broken,
            "errors": self.errors,
            "warnings": self.warnings,
        }
