"""Propose and store pairs in the background: each call adds up to MAX_NEW pairs that the subtest does not have."""

import logging
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from annotation.pairs.actions.store_pairs import store_pairs
from annotation.pairs.proposing import propose
from foilworks.core.corpus.models import Item, Subtest
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from generation.pairs.proposals import NATURAL, ORDER, REPETITION, REVERSAL, SPEED

MAX_NEW = 100
SEED = 0
DONE = "pairs stored: {stored}/{new}"

log = logging.getLogger(__name__)


def add_natural_pairs(subtest_id: int, job: Job) -> None:
    """Add natural pairs to the subtest."""
    _add(subtest_id, NATURAL, job)


def add_reversals(subtest_id: int, job: Job) -> None:
    """Add clips with their reversal to the subtest."""
    _add(subtest_id, REVERSAL, job)


def add_orders(subtest_id: int, job: Job) -> None:
    """Add trims in both orders to the subtest."""
    _add(subtest_id, ORDER, job)


def add_speeds(subtest_id: int, job: Job) -> None:
    """Add clips with a copy at another speed to the subtest."""
    _add(subtest_id, SPEED, job)


def add_repetitions(subtest_id: int, job: Job) -> None:
    """Add clips that repeat their event to the subtest."""
    _add(subtest_id, REPETITION, job)


def _add(subtest_id: int, kind: str, job: Job) -> None:
    subtest = Subtest.objects.select_related("project").get(pk=subtest_id)
    progress(job, 0, 1, "reading captions")
    # The first proposals are the same at each call, so the next ones follow the stored ones.
    n_stored = Item.objects.filter(subtest=subtest, pair__gt="", pair__startswith=f"{kind}-").count() // 2
    proposals = list(propose(subtest.project, kind, limit=n_stored + MAX_NEW, per_caption=1, seed=SEED))
    result = store_pairs(None, subtest, proposals, progress=partial(_with_progress, job))
    for failed in result["failed"]:
        log.warning("subtest %s: pair %s was not stored: %s", subtest_id, failed["pair"], failed["error"])
    done = DONE.format(stored=len(result["stored"]), new=len(proposals) - len(result["existing"]))
    progress(job, max(1, job.total), max(1, job.total), done)


def _with_progress(job: Job, batches: Iterable[Any], total: int, _label: str) -> Iterator[Any]:
    """Report each batch of pairs as a step of the job."""
    for done, batch in enumerate(batches):
        progress(job, done, total, "storing")
        yield batch
