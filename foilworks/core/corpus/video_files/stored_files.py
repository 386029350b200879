"""Store a video's file, and open it: on this host's disk, or fetched from the object store."""

import os
import uuid
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, default_storage

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import Video
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_cache import ClipCache, content_key
from foilworks.core.projects.access import secret_seed

CLIPS = "clips"


def clip_file(video: Video) -> os.PathLike[str]:
    """Return the path of the video's file, which must exist; fetched from an object store on opening."""
    return Path(video.file.path) if is_local() else StoredFile(video.file.name, video.sha256)


def opaque_name(sha256: str) -> str:
    """Return the name under which a file of these bytes is stored: equal files have one, and it tells nobody which.

    Browsers see it in the signed addresses of an object store. A plain hash could be looked up in a published list.
    """
    return secret_seed("object-name", sha256)


def is_local() -> bool:
    """Return whether files are stored in a folder that this host sees."""
    return isinstance(default_storage, FileSystemStorage)


def store(path: Path, name: str) -> None:
    """Copy the file into storage: under its name is a whole one or none, whatever ends us. OSError: it cannot be."""
    if not is_local():
        # A store shows an object when all of it came.
        with path.open("rb") as file:
            default_storage.save(name, File(file))
        return
    temporary_name = str(PurePosixPath(name).with_name(f".{uuid.uuid4().hex}"))
    temporary_path = Path(default_storage.path(temporary_name))
    try:
        with path.open("rb") as file:
            default_storage.save(temporary_name, File(file))
        with temporary_path.open("rb") as file:
            os.fsync(file.fileno())
        temporary_path.replace(default_storage.path(name))
    finally:
        temporary_path.unlink(missing_ok=True)


@dataclass(frozen=True)
class StoredFile(os.PathLike[str]):
    """A path that is fetched on first use. `sha256`: of the file's bytes, "" if unknown."""

    name: str
    sha256: str = ""

    def __fspath__(self) -> str:
        """MediaError: the store does not have it. CorpusError: the store, or this disk, cannot be used just now."""
        key = self.sha256 or content_key(name=self.name)
        try:
            cached_path = _cache(Path(settings.CACHE_ROOT), settings.CLIP_CACHE_BYTES).path(
                key, lambda file: default_storage.download(self.name, file), sha256=self.sha256
            )
        except FileNotFoundError as error:
            raise MediaError(f"{self.name}: is no longer in the object store; attach it again") from error
        except OSError as error:
            problem = f"{self.name}: cannot be fetched ({error.strerror}); fix this, then try again"
            raise CorpusError(problem) from error
        return str(cached_path)

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=8)
def _cache(root: Path, limit: int) -> ClipCache:
    return ClipCache(root / CLIPS, limit)
