"""Start all runs of a benchmark in one transaction: one per kind of foil, and one of proficiency items."""

from typing import Any

from django.db import transaction

from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project, User
from foilworks.core.text.quoting import quoted
from generation.actions.runs import start_run
from generation.errors import GenerationError
from generation.models import GenerationRun
from generation.recipes import BENCHMARKS, find_recipe
from generation.run_request import FoilRequest


@transaction.atomic
def start_benchmark(
    person: User | None, project: Project, slug: str, *, seed: int = 0, selection: dict[str, Any] | None = None
) -> list[GenerationRun]:
    """Start the runs of a benchmark, the proficiency items first. Missing subtests are created.

    A subtest with the name of a kind gets its foils, with its own rules. Raises GenerationError: the benchmark is
    unknown; AccessDenied; and what `start_run` raises. Then nothing is stored.
    """
    if slug not in BENCHMARKS:
        known = ", ".join(sorted(BENCHMARKS))
        raise GenerationError(f"there is no benchmark {quoted(slug)}; choose one of: {known}")
    benchmark = BENCHMARKS[slug]
    simpler = _subtest(person, project, f"{slug} proficiency", kind=Subtest.Kind.PROFICIENCY, test=benchmark.label)
    runs = [_run(person, project, simpler, benchmark.proficiency, seed, selection)]
    for name, recipe in benchmark.recipes.items():
        subtest = _subtest(person, project, name, test=benchmark.label, proficiency_subtest=simpler)
        runs.append(_run(person, project, subtest, recipe, seed, selection))
    return runs


def _subtest(person: User | None, project: Project, name: str, **rules: Any) -> Subtest:
    stored = Subtest.objects.filter(project=project, name=name).first()
    return stored or create_subtest(person, project, name=name, foils_per_item=1, **rules)


def _run(
    person: User | None, project: Project, subtest: Subtest, slug: str, seed: int, selection: dict[str, Any] | None
) -> GenerationRun:
    recipe = find_recipe(slug)
    request = FoilRequest(
        subtest=subtest,
        method=recipe.method,
        params=recipe.params,
        filters=recipe.filters_in("corrected"),
        seed=seed,
        selection=selection,
        recipe=f"{slug}@{recipe.version}",
    )
    return start_run(person, project, request)
