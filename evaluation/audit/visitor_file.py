"""Audit one file of a visitor, in a child process that imports what this module loads."""

from pathlib import Path
from typing import Any


def audit_uploaded(path: Path, form: str, max_pairs: int) -> dict[str, Any]:
    """Return the audit of a file with at most `max_pairs` pairs. EvaluationError or CorpusError: it cannot be read."""
    # Imported in the child process: web processes do not load scikit-learn.
    from evaluation.audit import audit
    from foilworks.core.corpus.import_formats.parsing.text_files import Source

    return audit.audit(audit.sources_of(Source(path, form)), audit.Options(max_pairs=max_pairs))
