"""Read the manifest of an export, whose types are checked before anything uses it: strangers send such files."""

import json
from typing import Any

MANIFEST, MADE_BY = "manifest.json", "foilworks"


def read_manifest(text: str | bytes) -> dict[str, Any] | None:
    """Return the manifest as it is written; None if the text is not one, or a field has another type."""
    # On request: most who write or name a manifest read none, and pydantic takes long to import.
    from foilworks.core.corpus.export_formats.parts.manifest_shape import Manifest

    try:
        document = json.loads(text)
        Manifest.read(document)
    except (ValueError, RecursionError):
        return None
    return dict(document)
