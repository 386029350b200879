"""Take the records of an import from a data set of the Hugging Face Hub."""

import os
import shutil
from pathlib import Path

from django.conf import settings

from foilworks.library.hub import ADDRESS, ENDINGS, SCHEME, Download, download
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import records_path

_ENDINGS = tuple(ending for endings in ENDINGS for ending in endings)


def local_records(path: str) -> Download:
    """Return the records of a path of this computer, or of an address, which is downloaded.

    EvaluationError: as `foilworks.library.hub.download`.
    """
    return download(path) if path.startswith(SCHEME) else Download(Path(path), {})


def fetch_records(upload: Import) -> None:
    """Download the records of an import with an address, once; the address then names the exact revision.

    EvaluationError: as `download`, or the data set is larger than uploads may be. OSError: the disk refuses.
    """
    if not upload.address or upload.file_name:
        return
    source, origin, _subtest = download(upload.address, max_bytes=settings.UPLOAD_MAX_BYTES)
    files = [source] if source.is_file() else sorted(file for file in source.rglob("*") if file.suffix in _ENDINGS)
    name, _revision, inner = ADDRESS.fullmatch(upload.address).groups()
    # A folder has a name that ends so: several files are one benchmark.
    upload.file_name = files[0].name if len(files) == 1 else f"{Path(inner or name).name}/"
    upload.address = f"{SCHEME}datasets/{name}@{origin['revision']}/{inner or ''}".rstrip("/")
    upload.licence = origin["licence"][:200]
    target = records_path(upload)
    for file in files:
        copy = target if len(files) == 1 else target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        _link_or_copy(file.resolve(), copy)
    # Stored last: a worker that takes over downloads again what another one left unfinished.
    fields = {name: getattr(upload, name) for name in ("file_name", "address", "licence")}
    Import.objects.filter(pk=upload.pk).update(**fields)


def _link_or_copy(file: Path, copy: Path) -> None:
    try:
        os.link(file, copy)
    except OSError:
        shutil.copyfile(file, copy)
