"""Choose the items of a release that stay private, and know which clips no export may show.

Whole groups are private: all items of a source video, and both items of a pair. What was public stays public, and what
was private stays private in every later release.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Item, Release, ReleaseItem
from foilworks.core.corpus.release_records import cluster
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.models import Project

Records = Collection[Mapping[str, Any]]
MOST = 0.5


def check_share(share: float) -> float:
    """Return the share; EvaluationError outside of 0 to MOST."""
    if not 0.0 <= share <= MOST:
        raise EvaluationError(
            _("The private share is %(share)s. Choose a share from 0%% to %(most)s.")
            % {"share": f"{share:.0%}", "most": f"{MOST:.0%}"}
        )
    return share


def private_ids(project: Project, records: Records, share: float, seed: int = 0) -> frozenset[str]:
    """Return the ids of the items that stay private; `share` 0 only keeps what earlier releases hold back.

    EvaluationError: too few items were never public.
    """
    public, private = _known_clips(project)
    if not (check_share(share) or private):
        return frozenset()
    ids = drawn(records, share, secret_seed("holdback", project.pk, seed), public, private)
    if share and not ids:
        raise EvaluationError(
            _(
                "No item can be held back: every item was there when an earlier release was frozen, so exports may "
                "contain it. Add new videos, or freeze without a private part."
            )
        )
    if len(ids) == len(records):
        raise EvaluationError(_("All items would be private. Add videos, or choose a smaller private share."))
    return ids


def drawn(
    records: Records, share: float, seed: str, public: Collection[str] = (), private: Collection[str] = ()
) -> frozenset[str]:
    """Return the ids of the drawn groups, pure. `public`, `private`: source videos that are fixed already.

    Groups come in the order of a seeded hash, until a further one would not bring the part nearer to the share.
    """
    fixed_groups, free = [], []
    for keys, group in _groups(records):
        if keys.isdisjoint(public):
            (free if keys.isdisjoint(private) else fixed_groups).append((min(keys), group))
    ids = [name for _key, group in fixed_groups for name in group]
    n_private = share * len(records)
    for _key, group in sorted(free, key=lambda entry: hashlib.sha256(f"{seed}:{entry[0]}".encode()).digest()):
        if abs(len(ids) + len(group) - n_private) < abs(len(ids) - n_private):
            ids += group
    return frozenset(ids)


def _groups(records: Records) -> Iterator[tuple[set[str], list[str]]]:
    """Return (keys, ids) of the items that belong together by any of their keys."""
    group_by_key: dict[str, tuple[set[str], list[str]]] = {}
    for record in records:
        keys = set(_keys(record))
        merged: tuple[set[str], list[str]] = (keys, [record["id"]])
        for overlap in {id(group_by_key[key]): group_by_key[key] for key in keys if key in group_by_key}.values():
            merged[0].update(overlap[0])
            merged[1].extend(overlap[1])
        group_by_key |= dict.fromkeys(merged[0], merged)
    return iter({id(group): group for group in group_by_key.values()}.values())


def _keys(record: Mapping[str, Any]) -> Iterator[str]:
    yield source_key(record["video"])
    if record["video"].get("sha256"):
        yield f"file {record['video']['sha256']}"
    if record.get("pair"):
        yield f"pair {record['subtest']} {record['pair']}"


def source_key(video: Mapping[str, Any]) -> str:
    return f"source {cluster(video)}"


def _known_clips(project: Project) -> tuple[set[str], set[str]]:
    """Return the source videos that exports may show, and those that earlier releases hold back.

    Exports of a release also contain the other items that the project had.
    """
    last = Release.objects.filter(project=project).order_by("-pk").first()
    if last is None:
        return set(), set()
    members = ReleaseItem.objects.filter(release__project=project)
    private = set(_sources(members.filter(is_private=True)))
    before = Item.objects.filter(project=project, created_at__lte=last.created_at).select_related("video")
    public_sources = {source_key(vars(item.video)) for item in before.iterator(chunk_size=500)}
    return (set(_sources(members.filter(is_private=False))) | public_sources) - private, private


def _sources(members: QuerySet[ReleaseItem]) -> Iterable[str]:
    return map(source_key, members.values_list("record__video", flat=True).iterator())


def held_clips(project: Project) -> QuerySet[ReleaseItem, Any]:
    """Return the ids of the project's clips with private items, for a subquery: no export shows a text about them."""
    members = ReleaseItem.objects.filter(release__project=project, is_private=True, video__isnull=False)
    return members.values("video")


def holdback_of(release: Release) -> dict[str, Any]:
    """Return what exports say of the private part: its size, and the hash over all items, by which it can be checked
    once it is shown; empty if there is none.
    """
    return {"items": release.n_private, "whole_hash": release.content_hash} if release.n_private else {}
