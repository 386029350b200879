"""Audit one file of a visitor, in a child process that imports what this module loads."""

from pathlib import Path
from typing import Any

from foilworks.core.text.registry import Entry, load

# Loaded by path, so that web pages do not import scikit-learn: only the child does.
AUDIT = Entry("audit", "evaluation.audit.audit")


def audit_uploaded(path: Path, form: str, max_pairs: int) -> dict[str, Any]:
    """Return the audit of a file with at most `max_pairs` pairs. EvaluationError or CorpusError: it cannot be read."""
    module = load(AUDIT)
    found: dict[str, Any] = module.audit(
        module.sources_of(module.Source(path, form)), module.Options(max_pairs=max_pairs)
    )
    return found
