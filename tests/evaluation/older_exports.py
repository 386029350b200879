"""Exports as older versions wrote them."""

import hashlib
import json

from foilworks.core.corpus.export_formats.parts.folder import pretty, self_hash


def refresh(export):
    """Hashes computed again, as by somebody who hides a change; the signature is removed."""
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    manifest.pop("signature", None)
    for name in manifest["files"]:
        content = (export / name).read_bytes()
        manifest["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    manifest["manifest_sha256"] = self_hash(manifest)
    (export / "manifest.json").write_text(pretty(manifest), encoding="utf-8")


def rewrite_table(export, kind, edit):
    """A table and its digest, as an older version wrote them."""
    path, checked = export / f"tables/{kind}.json", export / "tables/checks.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    edit(table)
    path.write_text(pretty(table), encoding="utf-8")
    checks = json.loads(checked.read_text(encoding="utf-8"))
    checks["tables"][kind] = hashlib.sha256(pretty(table).encode()).hexdigest()
    checked.write_text(pretty(checks), encoding="utf-8")
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    (export / "manifest.json").write_text(pretty({**manifest, "layout_version": 3}), encoding="utf-8")
    refresh(export)


def without_unjudged(table):
    for row in [*table["subtests"], table["overall"]]:
        for part in filter(None, (row, row["valid"])):
            del part["n_unjudged"], part["unjudged"]
