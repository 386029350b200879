"""Read and write the record of a selection, beside the file that the selection left."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.audit import exports
from evaluation.errors import EvaluationError
from foilworks.core.solver.design import SELECTING
from foilworks.core.solver.solution import Selection

# Behind the name of the file. It is none of the endings that readers of folders look for.
ENDING = ".selection"
VERSION = 1


def hash_of(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of the contents of files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda path: (path.name, path)):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def record_of(path: Path) -> Path:
    """Return the file of the record of a selected file or folder."""
    # The current folder has no name of its own.
    named = path if path.name else path.absolute()
    return named.parent / f"{named.name}{ENDING}"


def selection_of(paths: Sequence[Path]) -> Selection | None:
    """Return the selection that left these files; None if one of them has no record.

    A record is beside a file, beside its folder, or beside the folder of that. EvaluationError: a record is damaged, or
    of other contents.
    """
    selections, by_owner = [], dict[Path, list[Path]]()
    for path in paths:
        owner = next((owner for owner in (path, *path.parents[:2]) if record_of(owner).is_file()), None)
        if owner is not None:
            by_owner.setdefault(owner, []).append(path)
        elif gate := exports.gate_of(path):
            selections.append(parsed(gate.get("selection"), path))
        else:
            return None
    for owner, files in by_owner.items():
        try:
            fields = json.loads(record_of(owner).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise EvaluationError(f"{record_of(owner)}: cannot be read; write the selection again") from error
        if not isinstance(fields, dict) or fields.get("sha256") != hash_of(files):
            raise EvaluationError(
                f"{owner}: differs from what its record {record_of(owner).name} describes; remove the record to audit "
                "the file as it is"
            )
        selections.append(parsed(fields, record_of(owner)))
    known = [selection for selection in selections if selection is not None]
    if not known or len(known) < len(selections):
        return None
    return Selection(tuple(name for row in known for name in row.removed), known[0].probes, known[0].seed)


def parsed(fields: object, path: Path) -> Selection | None:
    """Return the selection of a stored record, None if there is none. EvaluationError: it is damaged."""
    if fields is None:
        return None
    record = fields if isinstance(fields, Mapping) else {}
    if not isinstance(record.get("removed"), list) or not set(record.get("probes", ())) <= set(SELECTING):
        raise EvaluationError(f"{path}: the record of the selection is damaged; write the selection again")
    return Selection(tuple(map(str, record["removed"])), tuple(record["probes"]), int(record.get("seed", 0)))


def as_record(selection: Selection, **facts: Any) -> dict[str, Any]:
    """Return the record as JSON; `facts` are shown to readers."""
    return {
        "version": VERSION,
        **facts,
        "seed": selection.seed,
        "probes": list(selection.probes),
        "removed": list(selection.removed),
    }
