"""Read the manifest of an export, whose types are checked before anything uses it: strangers send such files."""

import json
from typing import Any, Literal

from foilworks.core.text.shape import Shape

MANIFEST, MADE_BY = "manifest.json", "foilworks"


class FileFacts(Shape):
    """What the manifest says about one file."""

    sha256: str
    bytes: int = 0


class WithheldItem(Shape):
    """An item that was taken out of the export after the release."""

    id: str


class Signature(Shape):
    """Ed25519 over the hash of the manifest without signature and own hash (foilworks/site/exports/signature.py)."""

    algorithm: Literal["Ed25519"]
    public_key: str
    value: str


class Manifest(Shape):
    """The fields that the product reads."""

    made_by: Literal["foilworks"]
    files: dict[str, FileFacts]
    format: str = ""
    layout_version: int = 1
    content_hash: str = ""
    held_hash: str | None = None
    manifest_sha256: str = ""
    counts: dict[str, int] = {}
    withheld: list[WithheldItem] | None = None
    signature: Signature | None = None


def read_manifest(text: str | bytes) -> dict[str, Any] | None:
    """Return the manifest as it is written; None if the text is not one, or a field has another type."""
    try:
        document = json.loads(text)
        Manifest.read(document)
    except (ValueError, RecursionError):
        return None
    return dict(document)
