"""What item checks found, for pages, the list of items and the gate of a release. Light: no model."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from evaluation.bias.instructions import MODELS
from evaluation.bias.tables import ItemCheck, ItemShortcut, ShortcutBar
from evaluation.errors import EvaluationError
from evaluation.metrics._intervals import wilson
from projects.models import Project

OBJECTS, FRAME = "objects", "frame"


def latest_check(project: Project) -> ItemCheck | None:
    """The newest check that has ended. One query."""
    checks = ItemCheck.objects.filter(descriptions__project=project, checked_at__isnull=False)
    return checks.select_related("descriptions").order_by("-pk").first()


def flagged(project: Project, kind: str) -> QuerySet[ItemShortcut]:
    """Of the latest check: items that objects alone answer in all nine readings, or one frame alone."""
    rows = ItemShortcut.objects.filter(check_of=latest_check(project))
    return rows.filter(frame_right=True) if kind == FRAME else rows.filter(objects_right=MODELS)


def shortcuts_of(items: Sequence[int]) -> list[ItemShortcut]:
    """What the latest check of each item says, the later one last. One query."""
    rows = ItemShortcut.objects.filter(item__in=items, check_of__checked_at__isnull=False)
    return list(rows.order_by("check_of"))


def summary(check: ItemCheck) -> list[dict[str, Any]]:
    """One row a subtest and one for all: counts of all nine right, all nine wrong, the middle frame right. One query.

    Where objects say nothing, all right and all wrong are as frequent; what all right has more is answered by objects.
    """
    counted = ItemShortcut.objects.filter(check_of=check).order_by("item__subtest__name").values("item__subtest__name")
    rows = [
        {"name": row.pop("item__subtest__name"), **row}
        for row in counted.annotate(
            n=Count("pk"),
            right=Count("pk", filter=Q(objects_right=MODELS)),
            wrong=Count("pk", filter=Q(objects_right=0)),
            frame=Count("pk", filter=Q(frame_right=True)),
        )
    ]
    if len(rows) > 1:
        rows.append({"name": "", **{key: sum(row[key] for row in rows) for key in ("n", "right", "wrong", "frame")}})
    for row in rows:
        row["share"], row["frame_share"] = row["right"] / row["n"], row["frame"] / row["n"]
        row["share_ci"], row["frame_ci"] = wilson(row["right"], row["n"]), wilson(row["frame"], row["n"])
    return rows


def texts_sha256(texts: Sequence[str]) -> str:
    """Of the caption and the foils of an item, in their order."""
    return hashlib.sha256("\x1f".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def check_bar(project: Project, items: Mapping[int, Sequence[str]]) -> None:
    """EvaluationError where the project has a bar, and more of these items than it allows are answered by objects.

    `items`: id -> caption and foils as they are now; what a check found of other texts says nothing of them.
    """
    bar = ShortcutBar.objects.filter(project=project).first()
    if bar is None or not items:
        return
    found = ItemShortcut.objects.filter(check_of=latest_check(project))
    rows = {pk: (sha, right) for pk, sha, right in found.values_list("item", "texts_sha256", "objects_right")}
    known = {pk: rows[pk][1] for pk, texts in items.items() if pk in rows and rows[pk][0] == texts_sha256(texts)}
    unknown = len(items) - len(known)
    if unknown:
        raise EvaluationError(
            _("The project has a bar for items that objects alone answer, and %(n)d items are not checked with the "
              "texts that they have now; check them on the page of shortcuts, or lift the bar there.") % {"n": unknown}
        )  # fmt: skip
    share = sum(right == MODELS for right in known.values()) / len(items)
    if share > bar.share:
        raise EvaluationError(
            _("Objects alone answer %(share).1f %% of these items, and the project allows %(bar).1f %%; retract some "
              "of them (the list of items shows which), or lift the bar on the page of shortcuts.")
            % {"share": 100 * share, "bar": 100 * bar.share}
        )  # fmt: skip
