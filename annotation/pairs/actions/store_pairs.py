"""Store proposed pairs as two items each, which wait for blind validation.

Queue the job that proposes pairs for a subtest.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.pairs.made_clips import MadeClip, make_clips
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.actions.prepare_videos import prepare_later
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import GIVEN_UP, Caption, Foil, Item, MediaState, Subtest, Video
from foilworks.core.corpus.rules.states import FoilVerdict, first_item_state
from foilworks.core.corpus.rules.two_clips import NEEDS_TIME, PLAYED
from foilworks.core.corpus.video_files.ingest import reasons_taken_down, set_media
from foilworks.core.jobs.models import OPEN_STATES, Job
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.queue import enqueue
from foilworks.core.media.errors import MediaError
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from generation.pairs.proposals import KINDS, NATURAL, ORDER, REPETITION, REVERSAL, SPEED, Proposal

BATCH = 20
ITEM_KEY = "{name}-{n}"
# Of a source clip, what a clip made from it says too.
COPIED = ("source_dataset", "source_id", "split", "class_label", "category", "movie", "content_warning")
Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]


def check_subtest(subtest: Subtest) -> None:
    """Refuse a subtest whose items nobody would judge, or that has several foils per item."""
    if not subtest.votes_wanted:
        raise AnnotationError(
            _("The subtest %(name)s collects no votes, but people must confirm pairs. Set its vote rule to 1 or more.")
            % {"name": subtest.name}
        )
    if subtest.foils_per_item != 1 or subtest.kind != Subtest.Kind.MAIN:
        raise AnnotationError(
            _("The items of a pair have one foil each. Choose a main subtest with one foil per item, not %(name)s.")
            % {"name": subtest.name}
        )


def store_pairs(
    person: User | None, subtest: Subtest, proposals: Sequence[Proposal], *, progress: Progress
) -> dict[str, Any]:
    """Store the proposals that the subtest does not have yet; `person` None is the operator of the command line.

    Returns {"stored": names, "existing": names, "failed": [{"pair", "error"}]}. A batch is one transaction, and its
    clips are made before it, so an interrupted call can be repeated. AnnotationError: not a subtest for pairs.
    """
    project = subtest.project
    require_researcher(person, project)
    check_subtest(subtest)
    result: dict[str, Any] = {"stored": [], "existing": [], "failed": []}
    batches = [proposals[start : start + BATCH] for start in range(0, len(proposals), BATCH)]
    for batch in progress(batches, len(batches), "pairs"):
        existing = _existing(subtest, batch)
        result["existing"] += [proposal.name for proposal in batch if proposal.name in existing]
        ready = [
            (proposal, made_clips)
            for proposal in batch
            if proposal.name not in existing
            and (made_clips := _clips_of_proposal(project, proposal, result)) is not None
        ]
        for name, error in run_in_transaction(lambda ready=ready: _store(person, subtest, ready)).items():
            if error:
                result["failed"].append({"pair": name, "error": error})
            else:
                result["stored"].append(name)
    if result["stored"]:
        prepare_later(project.pk)
    return result


def _existing(subtest: Subtest, proposals: Iterable[Proposal]) -> set[str]:
    names = [proposal.name for proposal in proposals]
    rows = Item.objects.filter(subtest=subtest, pair__gt="", pair__in=names)
    return set(rows.values_list("pair", flat=True))


def _clips_of_proposal(project: Project, proposal: Proposal, result: dict[str, Any]) -> list[MadeClip] | None:
    """Return the clips that the proposal needs; None if they cannot be made, and then `result` says why."""
    if proposal.kind == NATURAL:
        return []
    try:
        return make_clips(proposal, _videos(project, proposal))
    except (MediaError, CorpusError) as error:
        result["failed"].append({"pair": proposal.name, "error": str(error)})
        return None


def _videos(project: Project, proposal: Proposal) -> list[Video]:
    videos_by_key = {video.key: video for video in Video.objects.filter(project=project, key__in=_keys(proposal))}
    missing_keys = [
        key
        for key in _keys(proposal)
        if key not in videos_by_key or videos_by_key[key].media_state == MediaState.TAKEN_DOWN
    ]
    if missing_keys:
        raise CorpusError(_("The clip %(key)s was removed meanwhile. Propose pairs again.") % {"key": missing_keys[0]})
    return [videos_by_key[key] for key in _keys(proposal)]


def _keys(proposal: Proposal) -> list[str]:
    return [caption.clip for caption in proposal.captions]


def _store(person: User | None, subtest: Subtest, ready: Sequence[tuple[Proposal, list[MadeClip]]]) -> dict[str, str]:
    """Store each pair with its audit rows; return name -> error, "" if it was stored."""
    serialize_writes(subtest.project)
    existing = _existing(subtest, [proposal for proposal, _clips in ready])
    done: dict[str, str] = {}
    for proposal, made_clips in ready:
        if proposal.name in existing:
            continue
        try:
            captions = _captions(person, subtest.project, proposal, made_clips)
        except CorpusError as error:
            done[proposal.name] = str(error)
            continue
        _store_items(person, subtest, proposal, captions)
        done[proposal.name] = ""
    return done


def _captions(
    person: User | None, project: Project, proposal: Proposal, made_clips: Sequence[MadeClip]
) -> tuple[Caption, Caption]:
    """Return the captions of both clips; those of made clips are new. CorpusError: one was given up meanwhile."""
    sources = _videos(project, proposal)
    ids = [caption.id for caption in proposal.captions]
    live_captions = Caption.objects.filter(pk__in=ids).exclude(doubt_settled__in=GIVEN_UP).in_bulk()
    if len(live_captions) < len(ids):
        raise CorpusError(_("A caption of this pair was removed meanwhile. Propose pairs again."))
    first, second = [
        _caption(_video(person, project, sources[0], clip), text, proposal.name, number)
        for number, (clip, text) in enumerate(zip(made_clips, proposal.texts, strict=False), 1)
    ] or [live_captions[pk] for pk in ids]
    return first, second


def _video(person: User | None, project: Project, source: Video, clip: MadeClip) -> Video:
    """Return the made clip, created if it is new. It has the source of the clip that it was made from."""
    if not source.source_id:
        # Statistics group items by their source, and takedowns find all clips of it.
        source.source_id = source.key
        source.save(update_fields=["source_id"])
        audit.record(audit.event(project, person, "corpus.name_source", source, source_id=source.source_id))
    existing = Video.objects.filter(project=project, key=clip.key).first()
    if existing is not None:
        return existing
    video = Video(project=project, key=clip.key, **{name: getattr(source, name) for name in COPIED})
    set_media(video, clip.media, reasons_taken_down(project, [clip.media]))
    video.conversion = clip.words
    video.save()
    event = audit.event(
        project, person, "corpus.make_clip", video, to_state=video.media_state, sha256=video.sha256, of=source.key
    )
    audit.record(event)
    return video


def _caption(video: Video, text: str, name: str, number: int) -> Caption:
    return Caption.objects.get_or_create(
        video=video, text_sha256=text_sha256(text), defaults={"text": text, "key": ITEM_KEY.format(name=name, n=number)}
    )[0]


def _store_items(person: User | None, subtest: Subtest, proposal: Proposal, captions: tuple[Caption, Caption]) -> None:
    """Create both items: each caption is the foil of the other clip."""
    facts: dict[str, Any] = {"pair_kind": proposal.kind, "change": proposal.change}
    if proposal.needs_time:
        facts[NEEDS_TIME] = proposal.needs_time
    played = proposal.played or ("", "")
    for number, (caption, foil) in enumerate(zip(captions, proposal.texts[::-1], strict=True), 1):
        item = Item.objects.create(
            project=subtest.project,
            subtest=subtest,
            video_id=caption.video_id,
            caption=caption,
            key=ITEM_KEY.format(name=proposal.name, n=number),
            state=first_item_state(subtest.votes_wanted),
            pair=proposal.name,
            facts={**facts, PLAYED: played[number - 1]} if played[number - 1] else facts,
        )
        Foil.objects.create(
            item=item, position=0, text=foil, text_sha256=text_sha256(foil), verdict=FoilVerdict.PENDING
        )
        event = audit.event(
            subtest.project, person, "annotation.store_pair", item, to_state=item.state, pair=proposal.name, **facts
        )
        audit.record(event)


def text_sha256(text: str) -> str:
    """Return the hash by which captions and foils of equal text are found."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# A job has no parameters but its target, so each kind is a function.
JOBS = {
    NATURAL: "pairs.add_natural",
    REVERSAL: "pairs.add_reversals",
    ORDER: "pairs.add_orders",
    SPEED: "pairs.add_speeds",
    REPETITION: "pairs.add_repetitions",
}


@transaction.atomic
def ask_for_pairs(person: User, subtest: Subtest, kind: str) -> Job:
    """Queue the job that adds pairs of the kind to the subtest.

    AnnotationError: not a subtest for pairs, no such kind, or such a job of the project is still active.
    """
    project = subtest.project
    require_role(person, project, Role.RESEARCHER)
    check_subtest(subtest)
    if kind not in KINDS:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(KINDS)})
    if jobs_of(project).filter(state__in=OPEN_STATES).exists():
        raise AnnotationError(_("Pairs are being proposed already. Wait until the job is done."))
    job = enqueue(JOBS[kind], subtest.pk, title=_("Proposing pairs"), project_id=project.pk)
    audit.record(audit.event(project, person, "annotation.ask_for_pairs", subtest, kind=kind))
    return job


def jobs_of(project: Project) -> QuerySet[Job]:
    """Return the project's jobs that propose pairs, newest first."""
    return Job.objects.filter(project_id=project.pk, dotted__in=stored_names(*JOBS.values())).order_by("-created_at")
