"""Write the data set folder of a release for the Hub: its content, the videos that may be copied, the search for names
in an anonymised copy.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.models import Vote
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.errors import EvaluationError
from foilworks.core.corpus.export_formats.hub import Options, write_hub
from foilworks.core.corpus.export_formats.parts.leaks import Identities, Leak, search_folder
from foilworks.core.corpus.models import MediaState, Release, ReleaseItem, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.projects.models import User
from foilworks.site.documents.models import DatasheetAnswer
from foilworks.site.documents.release_documents import citation_of
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.signature import sign_export
from foilworks.site.publishing.checklist import Row, checklist, facts_of
from foilworks.site.publishing.sheet import content_for_answers, made_from

KIND, VERSION = "publication_checklist", "1"
MAX_SHOWN = 5


@dataclass(frozen=True)
class Written:
    """The files of the folder, and words in it that are also a name or an account."""

    files: list[Path]
    leaks: list[Leak]


def checklist_of(release: Release, *, anonymous: bool = False) -> list[Row]:
    """Return the checklist; its facts are cached until the release's documents or votes change."""
    project = release.project
    answers = DatasheetAnswer.objects.filter(project=project).order_by("question").values_list("question", "text")
    shown = list(project.source_licences.order_by("pk").values_list("may_show", flat=True))
    inputs = digest([VERSION, *made_from(release), list(answers), shown])
    facts = cached_by_fingerprint(
        project, KIND, str(release.pk), inputs, lambda: facts_of(content_for_answers(release)), in_memory=False
    )
    return checklist(facts, anonymous=anonymous)


def videos_to_copy(release: Release) -> dict[str, Video]:
    """Return {key: video} of the release: its source allows a copy, its file is stored and was not taken down."""
    allowed = release.project.source_licences.filter(may_show=True).values("source_dataset")
    released = ReleaseItem.objects.filter(release=release, is_private=False).values("video")
    rows = Video.objects.filter(pk__in=released, media_state=MediaState.READY, takedown__isnull=True)
    found = rows.filter(source_dataset__in=allowed).exclude(file="")
    return {video.key: video for video in found.order_by("pk")}


def size_of(videos: Mapping[str, Video]) -> int:
    """Return the bytes of the files together."""
    return sum(video.file.size for video in videos.values())


def write_publication(
    release: Release,
    out: Path,
    *,
    anonymous: bool = False,
    videos: Mapping[str, Video] | None = None,
    repository: str = "",
    keep_names: bool = False,
    say_names: bool = True,
) -> Written:
    """Write the folder. EvaluationError: an anonymised copy names somebody, and nothing is written.

    `say_names`: whether the error may repeat the names; rows of jobs keep it when a person is erased.
    """
    found: list[Leak] = []
    files: dict[str, os.PathLike[str]] = {key: clip_file(video) for key, video in (videos or {}).items()}

    def check(folder: Path) -> None:
        found.extend(search_folder(folder, identities_of(release)))
        if (certain := [leak for leak in found if leak.is_certain]) and not keep_names:
            raise EvaluationError(_named(certain, say_names))

    options = Options(anonymous=anonymous, videos=files, repository=repository)
    if anonymous:
        options = Options(anonymous=True, videos=files, repository=repository, check=check)
    written = Written(write_hub(collect_release(release), out, options), found)
    if not anonymous:
        # A signature names the installation.
        sign_export(out)
    return written


FORM_OF_LEAK = "{text} in {where}"
NAMED = "the anonymised copy names somebody: {shown}{more}; change these texts, or use --keep-names if they mean others"
MORE = ", and {n} more"


def _named(leaks: list[Leak], say_names: bool) -> str:
    leak_places = [FORM_OF_LEAK.format(text=leak.text if say_names else "a name", where=leak.where) for leak in leaks]
    shown, n_more = ", ".join(leak_places[:MAX_SHOWN]), len(leaks) - MAX_SHOWN
    return NAMED.format(shown=shown, more=MORE.format(n=n_more) if n_more > 0 else "")


def identities_of(release: Release) -> Identities:
    """Return names, accounts and addresses of the authors and of everybody in the project, and our own folders."""
    project, cited = release.project, citation_of(release.project)
    voters = Vote.objects.filter(item__subtest__project=project).values("person")
    people = User.objects.filter(memberships__project=project) | User.objects.filter(pk__in=voters)
    people |= User.objects.filter(pk=release.created_by_id)
    names = [project.slug, project.name, *cited.authors, cited.title]
    addresses = [cited.doi, cited.url, cited.contact, str(settings.FOILWORKS_HOME), str(Path.home()) + os.sep]
    for author in cited.authors:
        family, _comma, given = author.partition(",")
        names += [family, f"{given} {family}"]
    rows: Any = people.distinct().values_list("username", "first_name", "last_name", "email")
    for account, first, last, email in rows:
        names += [account, f"{first} {last}".strip(), f"{last} {first}".strip(), last]
        addresses.append(email)
    subtests = release.project.subtests.values_list("name", "test")
    return Identities(names, addresses, ordinary=(text for pair in subtests for text in pair))
