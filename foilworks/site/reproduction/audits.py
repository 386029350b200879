"""Audit the public files, beyond what the papers do."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.audit.audit import Options, audit
from evaluation.audit.file_reader import Source

AUDIT = "Beyond the paper: audit of {}: {}; words alone solve {:.1f} % (chance {:.1f} %). All checks: audit.json."
SOLVED = "words"


def audit_files(files: Mapping[str, Path], work: Path, seed: int) -> tuple[str, ...]:
    """Audit each file, write all checks to audit.json, and return a sentence per name."""
    if not files:
        return ()
    audits: dict[str, Any] = {name: audit([Source(path)], Options(seed=seed)) for name, path in files.items()}
    (work / "audit.json").write_text(json.dumps(audits, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return tuple(filter(None, (_sentence(name, document) for name, document in audits.items())))


def _sentence(name: str, document: Mapping[str, Any]) -> str:
    for finding in document["findings"]:
        if (finding["details"] or {}).get("probe") == SOLVED and finding["value"] is not None:
            return AUDIT.format(name, document["verdict"], 100 * finding["value"], 100 * finding["chance"])
    return ""
