"""Sign manifests of exports with the installation's Ed25519 key (RFC 8032), and check such signatures.

cryptography comes with the pages, so a light installation checks hashes alone.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.folder import self_hash, write_json
from foilworks.core.corpus.export_formats.parts.manifest import MANIFEST

ALGORITHM = "Ed25519"


def sign_export(folder: Path) -> None:
    """Add the signature to the manifest of a written export. OSError if the disk refuses."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    manifest = {name: value for name, value in manifest.items() if name != "signature"}
    manifest["signature"] = sign(self_hash(manifest))
    temporary = folder / f".{MANIFEST}"
    write_json(temporary, manifest | {"manifest_sha256": self_hash(manifest)})
    temporary.replace(folder / MANIFEST)


def sign(digest: str) -> dict[str, str]:
    """Return {"algorithm", "public_key", "value"} for the hash of a manifest, in hexadecimal digits."""
    key = _private_key(settings.DERIVATION_KEY)
    public_key = key.public_key().public_bytes_raw().hex()
    return {"algorithm": ALGORITHM, "public_key": public_key, "value": key.sign(_message(digest)).hex()}


def public_key() -> str:
    """Return the key to announce, with which others check what this installation signs: 64 hexadecimal digits."""
    return sign("")["public_key"]


def problem_of(signature: Mapping[str, Any] | None, digest: str, expected_key: str = "") -> str:
    """Return what is wrong with the signature of a manifest; "" if it is right, or if none is expected.

    CorpusError: `expected_key` is not a public key, or the library is missing.
    """
    if expected_key and not re.fullmatch("[0-9a-f]{64}", expected_key):
        raise CorpusError("the key is not a public key; give the 64 hexadecimal digits that the publisher announced")
    if signature is None:
        return "is not signed" if expected_key else ""
    if expected_key and signature["public_key"] != expected_key:
        return f"is signed by another key, {signature['public_key']}"
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise CorpusError("signatures cannot be checked; install foilworks[web]") from error
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["public_key"]))
        key.verify(bytes.fromhex(signature["value"]), _message(digest))
    except (InvalidSignature, ValueError):
        return "was changed: its signature differs"
    return ""


@lru_cache(maxsize=1)
def _private_key(derivation_key: str) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"foilworks.releases")
    return Ed25519PrivateKey.from_private_bytes(derivation.derive(derivation_key.encode()))


def _message(digest: str) -> bytes:
    return f"foilworks manifest {digest}".encode()
