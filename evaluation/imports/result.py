"""What an import did, counted: the JSON of `foilworks import`."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

# Of clips without a file: enough to see what is wrong with their names.
MAX_MISSING = 5
KINDS = ("items", "captions", "proficiency_items", "videos", "subtests", "foils", "votes")


@dataclass
class ImportResult:
    """`created` and `unchanged` count rows by kind; `media` counts the clips of the file by state.

    `changes` are records that are stored otherwise: left as they are, or `updated` where that was asked for.
    `missing` names the first clips whose file was not found, `broken` all whose file cannot be used; `errors` and
    `warnings` are lines, `PATH:LINE: FIELD: …`.
    """

    format: str
    path: str
    project: str
    dry_run: bool
    records: int = 0
    # What a record of the format becomes.
    counted: tuple[str, ...] = ("items", "captions")
    created: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    changes: list[dict[str, Any]] = field(default_factory=list)
    attached: int = 0
    media: Counter[str] = field(default_factory=Counter)
    # The plug-in that read the file, such as "foilworks-mirror 0.3"; "" for our own formats.
    plugin: str = ""
    missing: list[str] = field(default_factory=list)
    broken: list[dict[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def reader(self) -> dict[str, str]:
        """What the audit and the result say of a format that is not our own."""
        return {"plugin": self.plugin} if self.plugin else {}

    def as_json(self) -> dict[str, Any]:
        return {
            "format": self.format,
            **self.reader,
            "path": self.path,
            "project": self.project,
            "dry_run": self.dry_run,
            "records": self.records,
            "created": {kind: self.created[kind] for kind in KINDS},
            "unchanged": {kind: self.unchanged[kind] for kind in KINDS[:3]},
            "new": sum(self.created[kind] for kind in self.counted),
            "same": sum(self.unchanged[kind] for kind in self.counted),
            "changed": len(self.changes),
            "updated": sum(change["updated"] for change in self.changes),
            "changes": self.changes,
            "attached": self.attached,
            "media": {state: self.media[state] for state in ("ready", "elsewhere", "missing", "broken")},
            "missing": self.missing,
            "broken": self.broken,
            "errors": self.errors,
            "warnings": self.warnings,
        }
