"""Create the new subtests of an import, with the rule that the votes of the file suggest."""

from collections import Counter
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.records import MAX_LABEL, RecordWarning
from foilworks.core.text.quoting import quoted
from foilworks.site.imports.batch import MAX_NAMED, Batch, Shape

VOTES_WANTED = 3  # three for main items, one for proficiency items (docs/workflow.md#stage-validation)
PROFICIENCY_VOTES = 1
_TAIL = " / proficiency"


def load_subtests(batch: Batch) -> None:
    """Load the project's subtests into `batch.subtests`, by name."""
    batch.subtests = {row.name: row for row in Subtest.objects.filter(project=batch.project)}


def store_subtests(batch: Batch) -> None:
    """Create the new subtests, linked to a proficiency subtest if the file has such pairs."""
    for name in dict.fromkeys(record.subtest for record in batch.records if record.foils):
        shape = batch.shapes[name]
        subtest = batch.subtests.get(name) or _create_main(batch, name, shape)
        if subtest.proficiency_subtest_id is None and shape.pair_foils:
            subtest.proficiency_subtest = _proficiency(batch, subtest, shape)
            if batch.writes:
                subtest.save(update_fields=["proficiency_subtest"])


def warn_of_other_tests(batch: Batch) -> None:
    """Warn, per subtest, of records that name a different test: a subtest has only one."""
    for name, shape in batch.shapes.items():
        subtest = batch.subtests.get(name)
        other_tests = [test for test in shape.tests if subtest is not None and test != subtest.test]
        if subtest is None or not other_tests:
            continue
        n = sum(shape.tests[test] for test in other_tests)
        ids = [id_ for test in other_tests for id_ in shape.first_ids[test]][:MAX_NAMED]
        listed_ids = ", ".join(repr(id_[:80]) for id_ in ids) + (", …" if n > len(ids) else "")
        own_test = repr(subtest.test) if subtest.test else "not said"
        problem = (
            f"is {own_test} for the subtest {quoted(name)}, and another one in {n} of its records ({listed_ids}): "
            "these go with the subtest; give them a subtest of their own"
        )
        batch.result.warnings.append(str(RecordWarning(str(batch.path), "test", problem)))


def _create_main(batch: Batch, name: str, shape: Shape) -> Subtest:
    votes_wanted = _most_frequent(shape.votes, VOTES_WANTED)
    return _create(
        batch,
        name=name,
        test=_most_frequent(shape.tests, ""),
        votes_wanted=votes_wanted,
        votes_needed=votes_wanted // 2 + 1,
        foils_per_item=_most_frequent(shape.foils, 1),
    )


def _proficiency(batch: Batch, subtest: Subtest, shape: Shape) -> Subtest:
    """Share a proficiency subtest between subtests of one test, as ViLMA's four of change of state do."""
    name = (subtest.test or subtest.name)[: MAX_LABEL - len(_TAIL)] + _TAIL
    existing = batch.subtests.get(name)
    if existing is not None:
        if existing.kind != Subtest.Kind.PROFICIENCY:
            raise EvaluationError(
                f"the subtest {quoted(name)} is not a proficiency subtest; rename it, then import again"
            )
        return existing
    votes_wanted = _most_frequent(shape.pair_votes, PROFICIENCY_VOTES)
    return _create(
        batch,
        name=name,
        test=subtest.test,
        kind=Subtest.Kind.PROFICIENCY,
        votes_wanted=votes_wanted,
        votes_needed=votes_wanted // 2 + 1,
        foils_per_item=_most_frequent(shape.pair_foils, 1),
    )


def _create(batch: Batch, **fields: object) -> Subtest:
    subtest = Subtest(project=batch.project, **fields)
    if batch.writes:
        subtest.save(force_insert=True)
    else:
        subtest.pk = -1 - len(batch.result.subtests)
    batch.subtests[subtest.name] = subtest
    batch.result.created["subtests"] += 1
    batch.result.subtests.append(subtest.name)
    return subtest


def _most_frequent(counts: Counter[Any], default: Any) -> Any:
    """Return the most frequent value, the smallest of several; `default` if there is none."""
    return min(counts, key=lambda value: (-counts[value], value), default=default)
