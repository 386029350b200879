"""Audit the public files, beyond what the papers do."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.audit.audit import Options, audit
from evaluation.audit.without_video import sentence
from foilworks.core.corpus.import_formats.parsing.text_files import Source

AUDIT = "Beyond the paper: audit of {}. {} All checks: audit.json."


def audit_files(files: Mapping[str, Path], work: Path, seed: int) -> tuple[str, ...]:
    """Audit each file, write all checks to audit.json, and return a sentence per name."""
    if not files:
        return ()
    audits: dict[str, Any] = {name: audit([Source(path)], Options(seed=seed)) for name, path in files.items()}
    (work / "audit.json").write_text(json.dumps(audits, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return tuple(filter(None, (_sentence(name, document) for name, document in audits.items())))


def _sentence(name: str, document: Mapping[str, Any]) -> str:
    meaning = sentence(document)
    return AUDIT.format(name, meaning) if meaning else ""
