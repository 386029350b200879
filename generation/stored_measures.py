"""Store measures in rows, by scorer and pair, shared by all runs and projects."""

from collections.abc import Mapping, Sequence

from generation.models import Measure as MeasureRow
from generation.models import Scorer
from generation.pair_measures import scorer_sha256
from generation.pipeline import Step
from generation.records import Measure

ROWS = 500


class RowMeasures:
    """The measures of a run's filters, with the rows of the current batch."""

    def __init__(self, filters: Sequence[Step]) -> None:
        self._scorers = {step.slug: _scorer(step) for step in filters if hasattr(step.module, "measure_many")}
        self._rows: dict[str, dict[str, int]] = {}

    def find(self, slug: str, pairs: Sequence[str]) -> Mapping[str, Measure]:
        stored_rows = self._look(slug, pairs)
        self._rows[slug] = {pair: pk for pair, (pk, _) in stored_rows.items()}
        return {pair: values for pair, (_, values) in stored_rows.items()}

    def keep(self, slug: str, measures: Mapping[str, Measure]) -> None:
        scorer = self._scorers[slug]
        MeasureRow.objects.bulk_create(
            [MeasureRow(scorer=scorer, pair_sha256=pair, values=dict(values)) for pair, values in measures.items()],
            ROWS,
            # Another run may have measured the same pair since.
            ignore_conflicts=True,
        )
        self._rows.setdefault(slug, {}).update({pair: pk for pair, (pk, _) in self._look(slug, list(measures)).items()})

    def row(self, slug: str, pair: str) -> int | None:
        """Return the row of a measure of the last batch; None for filters without measures."""
        return self._rows.get(slug, {}).get(pair)

    def _look(self, slug: str, pairs: Sequence[str]) -> dict[str, tuple[int, Measure]]:
        stored_rows: dict[str, tuple[int, Measure]] = {}
        for first in range(0, len(pairs), ROWS):
            rows = MeasureRow.objects.filter(scorer=self._scorers[slug], pair_sha256__in=pairs[first : first + ROWS])
            stored_rows |= {pair: (pk, values) for pk, pair, values in rows.values_list("pk", "pair_sha256", "values")}
        return stored_rows


def _scorer(step: Step) -> Scorer:
    depends_on = step.module.scorer(dict(step.params), **step.extra_arguments)
    key = scorer_sha256(step.slug, step.version, depends_on)
    defaults = {"filter": step.slug, "filter_version": step.version, "params": depends_on}
    return Scorer.objects.get_or_create(sha256=key, defaults=defaults)[0]
