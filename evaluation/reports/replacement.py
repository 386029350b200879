"""Load what the report on replacing votes computes on: votes, items, and the verdicts of scored models or of a file."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.analysis_inputs import CHOICES, NOBODY, Votes
from evaluation.analyses.replace import ALL, ItemVerdicts, ReplacementFacts
from evaluation.board.leaderboard import latest_runs
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import item_facts, vote_facts
from evaluation.releases.holdback import private_items
from evaluation.scoring.clip_keys import Keyed
from evaluation.scoring.queries import keyed_by, release_scores
from evaluation.scoring.run_results import is_settled
from foilworks.core.corpus.models import Foil, Release, ReleaseItem, Subtest, withdrawn_items
from foilworks.core.corpus.records import ReleaseScore
from foilworks.core.corpus.release_records import release_id
from foilworks.core.projects.models import Project
from generation.models import Candidate

# Pair -> code of the choice into CHOICES. A pair is named as its unit of votes: "subtest:key/position".
Verdicts = Mapping[str, int]
CAPTION, FOIL, NEITHER, BOTH, CANNOT_TELL = range(len(CHOICES))
# The kind of hub's scores that are a probability of yes; pages do not import hub.
P_YES = "p_yes"
YES = 0.5


@dataclass(frozen=True)
class _Pair:
    """One caption-foil pair, whether or not somebody has judged it."""

    name: str
    item: str
    item_pk: int
    subtest: str
    video: str
    aliases: tuple[str, ...]


def replacement_facts(
    project: Project, subtest: Subtest | None = None, verdicts: Mapping[str, Verdicts] | None = None
) -> ReplacementFacts:
    """Return the facts of the project with the given verdicts, else with those of the newest scored release."""
    pairs = _pairs(project, subtest)
    votes = vote_facts(project, subtest)
    models = _by_pair(pairs, verdicts) if verdicts is not None else verdicts_of_runs(project)
    of_pair = {pair.name: pair.subtest for pair in pairs}
    codes = {name: _on_units(votes.unit_names, said) for name, said in models.items()}
    return ReplacementFacts(
        votes,
        [of_pair.get(unit, unit.partition(":")[0]) for unit in votes.unit_names],
        {name: said for name, said in codes.items() if (said != NOBODY).any()},
        _items(project, subtest, pairs, models),
    )


def facts_of_files(votes: Votes, verdicts: Mapping[str, Verdicts]) -> ReplacementFacts:
    """Return the facts of a file of votes and a file of verdicts, without a database."""
    codes = {name: _on_units(votes.unit_names, said) for name, said in verdicts.items()}
    return ReplacementFacts(votes, [ALL] * len(votes.unit_names), codes)


def verdicts_of(votes: Votes) -> dict[str, dict[str, int]]:
    """Return the verdicts of a file: each of its annotators is a model. EvaluationError: verdicts that name nobody."""
    if (votes.annotator == NOBODY).any():
        raise EvaluationError("annotator: some verdicts name no model; name one in each line")
    found: dict[str, dict[str, int]] = {name: {} for name in votes.annotator_names}
    # "other" of three-way counts is one of the last three choices.
    for unit, model, choice in zip(votes.unit, votes.annotator, votes.choice, strict=True):
        found[votes.annotator_names[model]][votes.unit_names[unit]] = min(int(choice), CANNOT_TELL)
    return found


def _on_units(units: Sequence[str], said: Verdicts) -> NDArray[np.int64]:
    return np.array([said.get(unit, NOBODY) for unit in units], dtype=np.int64)


def _pairs(project: Project, subtest: Subtest | None) -> list[_Pair]:
    """Return every pair of main items that reports count, or of one subtest, but of no private item. One query."""
    rows = Foil.objects.exclude(withdrawn_items("item__")).order_by("item_id", "position")
    rows = rows.exclude(item__in=private_items(project))
    if subtest:
        rows = rows.filter(item__subtest=subtest)
    else:
        rows = rows.filter(item__subtest__project=project, item__subtest__kind=Subtest.Kind.MAIN)
    columns = ("item_id", "item__subtest__name", "item__key", "item__video_id", "position")
    found, sizes = [], defaultdict[int, int](int)
    stored = list(rows.values_list(*columns))
    for item, *_rest in stored:
        sizes[item] += 1
    for item, name, key, video, position in stored:
        items = dict.fromkeys((f"{name}:{key}", release_id(name, key), key))
        aliases = [f"{alias}/{position}" for alias in items] + (list(items) if sizes[item] == 1 else [])
        found.append(_Pair(f"{name}:{key}/{position}", f"{name}:{key}", item, name, str(video), tuple(aliases)))
    return found


def _by_pair(pairs: Iterable[_Pair], verdicts: Mapping[str, Verdicts]) -> dict[str, dict[str, int]]:
    """Return the verdicts by the names of pairs. EvaluationError: a model with verdicts on no pair."""
    found: dict[str, dict[str, int]] = {}
    listed = list(pairs)
    for model, said in verdicts.items():
        named = ((pair.name, next((said[alias] for alias in pair.aliases if alias in said), None)) for pair in listed)
        found[model] = {name: choice for name, choice in named if choice is not None}
        if not found[model]:
            example = next(iter(said))
            raise EvaluationError(
                f"item: no verdict of {model} names a pair of the project, such as {example!r}; "
                "name items as exports do, with the position of the foil in `foil`"
            )
    return found


def verdicts_of_runs(project: Project) -> dict[str, dict[str, int]]:
    """Return the verdicts of each model on the public items of the newest scored release. Two queries per model."""
    for release in Release.objects.filter(project=project, runs__isnull=False).distinct().order_by("-id"):
        runs = [run for run in latest_runs(release) if is_settled(run) and run.model_key]
        if not runs:
            continue
        columns = ("record", "item__subtest__name", "item__key")
        public = ReleaseItem.objects.filter(release=release, item__isnull=False, is_private=False)
        members = list(public.values_list(*columns))
        records = [record for record, *_names in members]
        named = {record["id"]: (f"{name}:{key}", record["foil_positions"]) for record, name, key in members}
        found = {}
        for run in runs:
            label = run.label if run.label not in found else f"{run.label} #{run.pk}"
            rows, _missing = release_scores(run, records)
            found[label] = {
                f"{named[row.id][0]}/{position}": choice
                for row in rows
                for position, choice in zip(named[row.id][1], choices_of(row, keyed_by(run)), strict=True)
            }
        return found
    return {}


def choices_of(row: ReleaseScore, keyed: Keyed = Keyed.CLIP) -> list[int]:
    """Return the choice per foil: the text with the better score; equal scores cannot tell.

    A model that answers each text with yes or no gives the probability of yes: then both or neither may be true. The
    scores of a model that reads all texts of an item at once are shares of them.
    """
    if row.kind == P_YES and keyed == Keyed.CLIP:
        said = {(True, False): CAPTION, (False, True): FOIL, (True, True): BOTH, (False, False): NEITHER}
        return [said[row.caption >= YES, foil >= YES] for foil in row.foils]
    sign = 1.0 if row.higher_is_better else -1.0
    gaps = [sign * (row.caption - foil) for foil in row.foils]
    return [CAPTION if gap > 0 else FOIL if gap < 0 else CANNOT_TELL for gap in gaps]


def _items(
    project: Project, subtest: Subtest | None, pairs: Sequence[_Pair], models: Mapping[str, Verdicts]
) -> ItemVerdicts:
    of_item: dict[str, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        of_item[pair.item].append(pair)
    facts = [item for item in item_facts(project, subtest) if item.id in of_item]
    first = [of_item[item.id][0] for item in facts]
    groups = {ALL: np.ones(len(facts), dtype=bool)}
    names = list(dict.fromkeys(pair.subtest for pair in first))
    if len(names) > 1:
        groups |= {name: np.array([pair.subtest == name for pair in first], dtype=bool) for name in names}
    made = _methods(project)
    for method in sorted({method for pair in first for method in made[pair.item_pk]}):
        groups[f"method {method}"] = np.array([method in made[pair.item_pk] for pair in first], dtype=bool)
    return ItemVerdicts(
        np.array([np.nan if item.valid is None else float(item.valid) for item in facts]),
        [pair.video for pair in first],
        groups,
        {name: np.array([_all_captions(of_item[item.id], said) for item in facts]) for name, said in models.items()},
    )


def _all_captions(pairs: Sequence[_Pair], said: Verdicts) -> float:
    choices = [said.get(pair.name) for pair in pairs]
    return np.nan if None in choices else float(all(choice == CAPTION for choice in choices))


def _methods(project: Project) -> dict[int, set[str]]:
    """Return the methods that made an item's foils. One query."""
    found: dict[int, set[str]] = defaultdict(set)
    rows = Candidate.objects.filter(foil__item__subtest__project=project)
    for item, method in rows.values_list("foil__item_id", "method"):
        found[item].add(method)
    return found
