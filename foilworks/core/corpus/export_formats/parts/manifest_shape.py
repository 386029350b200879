"""Define the fields of a manifest, with types that pydantic checks."""

from typing import Literal

from foilworks.core.text.shape import Shape


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
