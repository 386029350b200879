"""Compare the files of a folder with the files that clips have: the same name does not mean the same bytes."""

import hashlib
from collections.abc import Collection, Iterable
from functools import cache, cached_property
from pathlib import Path

from foilworks.core.corpus.models import Video
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Project


def versions_of(project: Project, keys: Collection[str]) -> dict[str, list[Video]]:
    """Return the clips of these keys, each with its later versions, oldest first."""
    versions: dict[str, list[Video]] = {}
    of_project = Video.objects.filter(project=project)
    later = of_project.filter(version_of__in=keys).exclude(version_of="").order_by("pk")
    for video in [*of_project.filter(key__in=keys), *later]:
        for key in video.keys.intersection(keys):
            versions.setdefault(key, []).append(video)
    return {key: list(dict.fromkeys(videos)) for key, videos in versions.items()}


class StoredBytes:
    """What the audit trail says of the originals of converted clips, and the bytes of each file, read once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.sha256 = cache(_sha256)

    def differing(self, files: Iterable[tuple[Video, Path]]) -> list[Video]:
        """Return the clips whose file has other bytes than the one that was taken for them.

        A converted clip whose original is not known counts as the same.
        """
        files = list(files)
        originals = self._originals([video for video, _path in files if video.conversion])
        return [video for video, path in files if self._differs(video, path, originals.get(video.sha256))]

    def _differs(self, video: Video, path: Path, original: str | None) -> bool:
        taken = original if video.conversion else video.sha256
        return taken is not None and self.sha256(path) not in (taken, video.sha256)

    def _originals(self, converted: list[Video]) -> dict[str, str]:
        """Map the hash of a playable copy to the hash of the file that it was made from."""
        if not converted:
            return {}
        originals = dict(self._of_imports)
        attached = AuditEvent.objects.filter(
            target_type=Video._meta.label_lower, target_id__in=[str(video.pk) for video in converted]
        ).order_by("pk")
        for details in attached.values_list("details", flat=True):
            if details.get("made_from"):
                originals[details["sha256"]] = details["made_from"]
        return originals

    @cached_property
    def _of_imports(self) -> dict[str, str]:
        imports = audit.events_of(self._project).filter(details__has_key="playable_copies")
        originals: dict[str, str] = {}
        for details in imports.values_list("details", flat=True):
            originals |= details["playable_copies"]
        return originals


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
