"""Which items of a run have an answer that cannot be read, and how far that leaves the run's numbers open.

An unreadable answer is neither right nor wrong: it has no score. A number that leaves such items out has a lower bound,
in which all of them are wrong.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from evaluation.scoring.models import Run
from evaluation.scoring.rungs import Rung

Record = Mapping[str, Any]
# Kinds of a run's problems, whose entries are {"item", "why"}, and "rung" for less than the whole clip.
MODEL_REFUSED, ANSWER_UNPARSABLE = "model_refused", "answer_unparsable"
BOUNDED = ("T", "P", "P+T")


def unread_items(run: Run, rung: Rung = Rung.FULL) -> set[str]:
    """Return the items of the run whose answer on the rung cannot be read."""
    own_rung = "" if rung == Rung.FULL else str(rung)
    return {
        problem["item"]
        for kind in (MODEL_REFUSED, ANSWER_UNPARSABLE)
        for problem in run.problems.get(kind, ())
        if isinstance(problem, Mapping) and problem.get("rung", "") == own_rung
    }


def with_bounds(group: Mapping[str, Any], unread: set[str], items: Collection[str]) -> dict[str, Any]:
    """Return a group of `metrics.pairwise` over `items` with `n_unread` and `all_wrong`: its values if every unreadable
    answer is wrong. The values themselves leave these answers out. Without any, the group is unchanged.
    """
    n_unread = len(unread.intersection(items))
    if not n_unread:
        return dict(group)
    share_read = group["n"] / (group["n"] + n_unread)
    lowest = {name: None if group[name] is None else group[name] * share_read for name in BOUNDED}
    return {**group, "n_unread": n_unread, "all_wrong": lowest}


def bounded(results: Mapping[str, Any], unread: set[str], records: Sequence[Record]) -> dict[str, Any]:
    """Return the results of a run with bounds in each group that has unreadable answers."""
    by_group: dict[tuple[str, str], set[str]] = {}
    for record in records:
        by_group.setdefault(("subtests", record["subtest"]), set()).add(record["id"])
        by_group.setdefault(("tests", record["test"] or record["subtest"]), set()).add(record["id"])
    groups = {
        kind: {
            name: with_bounds(group, unread, by_group.get((kind, name), ())) for name, group in results[kind].items()
        }
        for kind in ("subtests", "tests")
    }
    overall = with_bounds(results["overall"], unread, [record["id"] for record in records])
    return {**results, **groups, "overall": overall}
