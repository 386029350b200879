"""Serve a release as a zip of what `foilworks export` writes."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from django.http import FileResponse, HttpRequest
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.export_formats.parts.folder import write_zip
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.text.registry import load, lookup, parse_params
from foilworks.site.exports.collect import export_content, write_export

# A smaller zip remains in memory.
SPOOL_BYTES = 1024 * 1024


@require_POST
def export(request: HttpRequest, slug: str, pk: int, exporter: str) -> FileResponse:
    """Require POST, so that no link or crawler makes the server write a whole benchmark."""
    release = get_release(request.user, slug, pk)
    name = f"{release.project.slug}-{slugify(release.name) or release.pk}-{exporter}"
    params = lookup(EXPORTERS, exporter, "format").params
    submitted_params = {param.name: request.POST[param.name] for param in params if param.name in request.POST}
    return FileResponse(zipped(release, exporter, name, submitted_params), as_attachment=True, filename=f"{name}.zip")


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
