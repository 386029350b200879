"""Write an export into a zip."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from foilworks.core.corpus.export_formats.parts.folder import write_zip
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.text.registry import load, lookup, parse_params
from foilworks.site.exports.collect import export_content, write_export

# A smaller zip remains in memory.
SPOOL_BYTES = 1024 * 1024


def zipped(
    release: Release, slug: str, name: str, submitted_params: Mapping[str, str] | None = None
) -> tempfile.SpooledTemporaryFile:
    """Zip the files of the export below a folder `name`; the caller closes the result."""
    entry = lookup(EXPORTERS, slug, "format")
    params, module = parse_params(entry, submitted_params or {}), load(entry)
    content = export_content(module, release.project, release)
    with tempfile.TemporaryDirectory(prefix="foilworks-export-") as folder:
        out = Path(folder) / name
        written = write_export(slug, module, content, out, params)
        packed = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115 (the response closes it)
        write_zip(packed, name, out, written)
    packed.seek(0)
    return packed
