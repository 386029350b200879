"""Load the results of item checks, for pages, the list of items and the gate of a release. Loads no model."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import mean_intervals
from evaluation.utd.instructions import MODELS
from evaluation.utd.models import ItemCheck, ItemShortcut, ShortcutBar
from foilworks.core.corpus.release_records import cluster
from foilworks.core.projects.models import Project

OBJECTS, FRAME = "objects", "frame"
# Fields that identify a clip's source video.
SOURCE = ("source_dataset", "source_id", "sha256", "key")


def latest_check(project: Project) -> ItemCheck | None:
    """Return the newest check that has ended. One query."""
    checks = ItemCheck.objects.filter(descriptions__project=project, checked_at__isnull=False)
    return checks.select_related("descriptions").order_by("-pk").first()


def flagged(project: Project, kind: str) -> QuerySet[ItemShortcut]:
    """Return, from the latest check, items that objects alone answer in all nine combinations, or one frame alone."""
    rows = ItemShortcut.objects.filter(check_of=latest_check(project))
    return rows.filter(frame_right=True) if kind == FRAME else rows.filter(objects_right=MODELS)


def shortcuts_of(items: Sequence[int]) -> list[ItemShortcut]:
    """Return the results of the latest check of each item, the later one last. One query."""
    return list(ItemShortcut.objects.filter(item__in=items, check_of__checked_at__isnull=False).order_by("check_of"))


def summary(check: ItemCheck) -> list[dict[str, Any]]:
    """Return one row per subtest and one for all: counts of all nine right, all nine wrong, the middle frame right. One
    query.

    If objects carry no information, all right and all wrong are equally frequent; the excess of all right is answered
    by objects. Intervals are over source videos.
    """
    rows_by_subtest: dict[str, list[tuple[int, bool, str]]] = {}
    rows = ItemShortcut.objects.filter(check_of=check).order_by("item__subtest__name", "pk")
    columns = ("item__subtest__name", "objects_right", "frame_right", *(f"item__video__{name}" for name in SOURCE))
    for name, objects, frame, *video in rows.values_list(*columns).iterator():
        rows_by_subtest.setdefault(name, []).append((objects, frame, cluster(dict(zip(SOURCE, video, strict=True)))))
    if len(rows_by_subtest) > 1:
        rows_by_subtest[""] = [row for subtest_rows in rows_by_subtest.values() for row in subtest_rows]
    return [_summed(name, subtest_rows) for name, subtest_rows in rows_by_subtest.items()]


def _summed(name: str, rows: Sequence[tuple[int, bool, str]]) -> dict[str, Any]:
    objects, frame, sources = (list(column) for column in zip(*rows, strict=True))
    right = [n_right == MODELS for n_right in objects]
    share_ci, frame_ci = mean_intervals(np.column_stack([right, frame]).astype(np.float64), sources)
    n, counts = len(rows), {"right": sum(right), "wrong": objects.count(0), "frame": sum(frame)}
    return {
        "name": name,
        "n": n,
        **counts,
        "share": counts["right"] / n,
        "frame_share": counts["frame"] / n,
        "share_ci": share_ci,
        "frame_ci": frame_ci,
    }


def texts_sha256(texts: Sequence[str]) -> str:
    """Return a hash of the caption and the foils of an item, in their order."""
    return hashlib.sha256("\x1f".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def check_bar(project: Project, items: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Raise EvaluationError if objects alone answer more of these items than the project's limit permits.

    `items`: (id, caption and foils as they are now); results of a check for different texts do not count.
    """
    bar = ShortcutBar.objects.filter(project=project).first()
    if bar is None:
        return
    shortcuts = ItemShortcut.objects.filter(check_of=latest_check(project))
    rows = {pk: (sha, right) for pk, sha, right in shortcuts.values_list("item", "texts_sha256", "objects_right")}
    right = [rows[pk][1] if rows.get(pk, ("",))[0] == texts_sha256(texts) else None for pk, texts in items]
    unknown = right.count(None)
    if unknown:
        raise EvaluationError(
            _(
                "The project limits the share of items that object lists alone answer. %(n)d items are not "
                "checked with their current texts. Check them under “Items with shortcuts”, or remove the "
                "limit there."
            )
            % {"n": unknown}
        )
    share = right.count(MODELS) / len(right)
    if share > bar.share:
        raise EvaluationError(
            _(
                "Object lists alone answer %(share).1f %% of these items. The limit of this project is "
                "%(bar).1f %%. Retract some of these items (the item list shows which), or raise the limit "
                "under “Items with shortcuts”."
            )
            % {"share": 100 * share, "bar": 100 * bar.share}
        )
