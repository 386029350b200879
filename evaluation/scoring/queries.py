"""Read releases, runs and scores for pages, commands and exports, in a fixed number of queries."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Func, JSONField, Q, QuerySet

from evaluation.errors import EvaluationError
from evaluation.metrics import pairwise, rcad, two_clips
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.control import beside, sampled_captions
from evaluation.metrics.intervals import DRAWS
from evaluation.metrics.ties import hit, standing
from evaluation.score_files.scores import padded
from evaluation.scoring.clip_keys import Keyed, score_key, text_key
from evaluation.scoring.models import EQUAL_AFTER_CUT, UNSEEN_TIME, Run, Score
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.rung_scores import RungValues, StoredScores, lenders_of, rows_of, values_of
from evaluation.scoring.rungs import Rung, ladder_of
from evaluation.scoring.set_results import set_results
from evaluation.scoring.unread_answers import bounded, unread_items
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.records import WINNER, ReleaseScore
from foilworks.core.corpus.release_records import cluster
from foilworks.core.corpus.rules.hard_foils import candidates_of, hard_foils
from foilworks.core.corpus.rules.two_clips import connected, two_of_each
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted

Record = Mapping[str, Any]
SCORE_FILE = "file:"
SHOWN_RELEASES = 10


def release_named(name: str, project: Project | None = None) -> Release:
    """Load a release by id, by content hash (or at least its first 8 digits), or by name within a project."""
    rows = Release.objects.select_related("project")
    if project is not None:
        rows = rows.filter(project=project)
    if name.isdigit() and len(name) < 19 and (release := rows.filter(pk=int(name)).first()):
        return release
    by_hash = Q(content_hash__startswith=name) | Q(public_hash__startswith=name)
    matching = rows.filter(by_hash) if len(name) >= 8 else rows.none()
    found_rows = list((matching | rows.filter(name=name))[:2])
    if len(found_rows) == 1:
        return found_rows[0]
    if found_rows:
        raise EvaluationError(f"{quoted(name)} names several releases; give the id that `foilworks release` printed")
    newest = list(rows.order_by("-pk")[:SHOWN_RELEASES])
    names = ", ".join(f"{release.name} (id {release.pk}, of {release.project.slug})" for release in newest)
    raise EvaluationError(
        f"{quoted(name)} is not a release; the releases are: {names or 'none yet; create one with `foilworks release`'}"
    )


def records_of(release: Release, *, private: bool = False) -> list[dict[str, Any]]:
    """Return the frozen public records, or the `private` ones, in their order. One query.

    Results, boards and exports cover the public items, as anybody can compute them again.
    """
    members = ReleaseItem.objects.filter(release=release, is_private=private)
    return list(members.order_by("position").values_list("record", flat=True))


class _WithoutProvenance(Func):
    """A frozen record without the origin of its foils: half of it, which no score depends on."""

    output_field = JSONField()
    template = "(%(expressions)s - 'provenance')"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="JSON_REMOVE(%(expressions)s, '$.provenance')", **context)


def scored_records(release: Release) -> list[dict[str, Any]]:
    """Return `records_of` without their provenance, in half the time: what scores and their figures need. One query."""
    members = ReleaseItem.objects.filter(release=release, is_private=False).order_by("position")
    return list(members.values_list(_WithoutProvenance("record"), flat=True))


@dataclass(frozen=True)
class ItemTexts:
    """What a run queries about one item: for the item and, if it has a valid one, for its proficiency pair."""

    record: Record
    main_key: str
    main: tuple[str, ...]
    proficiency_key: str
    proficiency: tuple[str, ...]


def keyed_by(run: Run) -> Keyed:
    """Return what the keys of the run's values cover."""
    if run.spec.startswith(SCORE_FILE):
        return Keyed.ITEM
    return Keyed.TEXTS if run.params.get("by_item") else Keyed.CLIP


def item_texts_of(record: Record, keyed: Keyed = Keyed.CLIP) -> ItemTexts:
    """Return texts (caption first) and score keys of a frozen record.

    A proficiency pair that validators did not find valid is not scored: P and P+T cover only valid pairs (ViLMA, Table
    6).
    """
    pair = record["proficiency"]
    able = bool(pair and pair["valid"])
    main = (record["caption"], *record["foils"])
    proficiency = (pair["caption"], *pair["foils"]) if able else ()
    return ItemTexts(
        record=record,
        main_key=score_key(keyed, record, "main", main),
        main=main,
        proficiency_key=score_key(keyed, record, "proficiency", proficiency),
        proficiency=proficiency,
    )


def control_texts(records: Sequence[Record], params: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return {id: own caption, then sampled captions of other videos} of the items whose caption has a rank (RCAD's
    control).

    `params`: candidates and seed. EvaluationError: no such item, or too few captions to sample from.
    """
    ranked = {record["id"] for record in records if len(record["foils"]) > 1}
    if not ranked:
        raise EvaluationError("no item has two or more foils, so there are no ranks to compare; leave the control out")
    names = [record["id"] for record in records]
    sources = [cluster(record["video"]) for record in records]
    captions = [record["caption"] for record in records]
    sampled = sampled_captions(names, sources, captions, **params)
    drawn = zip(names, captions, sampled, strict=True)
    return {name: (caption, *texts) for name, caption, texts in drawn if name in ranked}


def texts_of(record: Record) -> tuple[str, ...]:
    """Return every text of a frozen record that a run may query."""
    pair = record["proficiency"]
    return (record["caption"], *record["foils"], *((pair["caption"], *pair["foils"]) if pair else ()))


def stored_scores(
    run: Run, texts: Iterable[str] | None = None, rung: Rung = Rung.FULL, look: int = 0
) -> tuple[StoredScores, str, bool]:
    """Return {(clip key, text hash): raw value} of the run's model and protocol, their kind, whether higher is better.

    `texts`: only of these, for the few items of a page. `rung`: only what it needs.
    """
    of_model = Score.objects.filter(model_key=run.model_key, protocol=run.protocol)
    rows: QuerySet[Score] = rows_of(of_model, run, rung, look)
    if texts is not None:
        rows = rows.filter(text_sha256__in={text_key(text) for text in texts})
    values_by_key: StoredScores = {}
    kind, higher = "", True
    if run.model_key:
        fields = ("clip_key", "text_sha256", "value", "kind", "higher_is_better")
        for clip, text, value, kind, higher in rows.values_list(*fields).iterator():  # noqa: B007
            values_by_key[clip, text] = value
    return values_by_key, kind, higher


def view_scores(run: Run, views: Iterable[str]) -> StoredScores:
    """Return {(clip key, text hash): raw value} of the run's scores of these views, "" for the clip as it is."""
    rows = Score.objects.filter(model_key=run.model_key, protocol=run.protocol)
    found: StoredScores = {}
    for view in views:
        of_view = rows.filter(clip_key__endswith=f"~{view}") if view else rows_of(rows, run, Rung.FULL)
        for clip, text, value in of_view.values_list("clip_key", "text_sha256", "value").iterator():
            found[clip, text] = value
    return found


def release_scores(
    run: Run, records: Sequence[Record] | None = None, *, few: bool = False, rung: Rung = Rung.FULL, look: int = 0
) -> tuple[list[ReleaseScore], list[str]]:
    """Return one row for each item that the run scored completely, and the ids of the others. Two queries.

    If the run scored any proficiency pair, an item without scores of its own pair is not complete: else the omissions
    of a run would choose the items that P, T and P+T cover. A pair that is equal after truncation has no scores. `few`:
    the given records are a page of the release, so the run's other scores need not be read; it replaces the check over
    the whole. `rung`: with less of the clip; `look`: a further look at it.
    """
    needed_texts = [text for record in records or () for text in texts_of(record)] if few else None
    scores, kind, higher = stored_scores(run, needed_texts, rung, look)
    by = keyed_by(run)
    item_records = records if records is not None else scored_records(run.release)
    lenders = lenders_of(run, None if few else item_records, look, rung)
    values = RungValues(scores, by, rung, ladder_of(run.params), lenders, higher=higher, look=look)
    texts_by_item = [item_texts_of(record, by) for record in item_records]
    unscored = unscored_parts(run)
    pairs = [
        None if (item.record["id"], "proficiency") in unscored else values(item.record, "proficiency", item.proficiency)
        for item in texts_by_item
    ]
    paired = any(pairs)
    rows: list[ReleaseScore] = []
    missing: list[str] = []
    for item, able in zip(texts_by_item, pairs, strict=True):
        record, main = item.record, values(item.record, "main", item.main)
        if main is None or (able is None and paired) or (record["id"], "main") in unscored:
            missing.append(record["id"])
            continue
        rows.append(
            ReleaseScore(
                id=record["id"],
                model=run.label,
                model_key=run.model_key,
                protocol=run.protocol,
                subtest=record["subtest"],
                test=record["test"] or record["subtest"],
                cluster=cluster(record["video"]),
                caption=main[0],
                foils=tuple(main[1:]),
                proficiency_caption=able[0] if able else None,
                proficiency_foils=tuple(able[1:]) if able else (),
                kind=kind,
                higher_is_better=higher,
                pair=record.get("pair", ""),
            )
        )
    return rows, missing


def unscored_parts(run: Run) -> set[tuple[str, str]]:
    """Return (item, part) that count for nothing: the caption equals a foil after truncation (`scoring.truncation`), or
    the model cannot see what differs (`scoring.unseen_time`)."""
    return {(row["item"], row["part"]) for name in (EQUAL_AFTER_CUT, UNSEEN_TIME) for row in run.problems.get(name, ())}


def unseen_items(run: Run) -> set[str]:
    """Return the items that the run's model cannot see."""
    return {row["item"] for row in run.problems.get(UNSEEN_TIME, ())}


def run_results(
    run: Run, records: Sequence[Record] | None = None, *, ties: str | None = None, draws: int = DRAWS
) -> dict[str, Any]:
    """Run `metrics.pairwise` on the run's stored scores: overall, per subtest, per test; `missing` lists unscored
    items.

    `overall` is None and the rest empty without scores. `rcad` has ranks of items with two foils and more; predictions
    (`only_winners`) have none. `records`: the public ones of the release, if they are read already. `ties`: the
    protocol's policy by default.
    """
    records = scored_records(run.release) if records is None else records
    rows, missing = release_scores(run, records)
    policy = ties or PROTOCOLS[run.protocol].ties
    facts = {"run": run.pk, "model": run.label, "model_key": run.model_key, "protocol": run.protocol}
    unseen = unseen_items(run)
    facts["missing"] = [name for name in missing if name not in unseen]
    if run.params.get("served"):
        facts["served"] = run.params["served"]
    rows, facts["left_out"] = counted(run, rows)
    if not rows:
        return {
            **facts,
            "tie_policy": policy,
            "overall": None,
            "subtests": {},
            "tests": {},
            "avg_P+T": None,
            "only_winners": False,
            "rcad": None,
            "control": None,
            "two_clips": None,
            "sets": None,
            "hard_foils": None,
        }
    only_winners, scores, unread = is_winners_only(run, rows), pair_scores(rows), unread_items(run)
    measured = bounded(pairwise.compute(scores, ties=policy, draws=draws), unread, records)
    ranked = None if only_winners else _ranked(rows)
    control = _controlled(run, ranked)
    return {
        **facts,
        **measured,
        "only_winners": only_winners,
        "rcad": rcad.compute(ranked, ties=policy, draws=draws) if ranked else None,
        "control": beside(ranked, control, run.params["control"], policy, draws) if ranked and control else None,
        "two_clips": two_clip_results(rows, policy, draws, winners=only_winners, shares=keyed_by(run) == Keyed.TEXTS),
        "sets": set_results(records, credit_by_id(scores, policy), unread, draws),
        "hard_foils": None if only_winners else hard_foil_results(records, rows, policy, draws),
    }


def credit_by_id(scores: pairwise.PairScores, policy: str) -> dict[str, float]:
    """Return the credit in 0..1 of each scored item."""
    return dict(zip(scores.ids, hit(standing(scores.main), policy).tolist(), strict=True))


def hard_foil_results(
    records: Sequence[Record], rows: Sequence[ReleaseScore], policy: str, draws: int
) -> dict[str, Any] | None:
    """Return metrics.pairwise of caption against hard foil, over the items that have one; None without any.

    `sources`: the number of these items by how their hard foil is known.
    """
    candidates = zip(records, hard_foils(map(candidates_of, records)), strict=True)
    hard = {
        record["id"]: hard_foil for record, hard_foil in candidates if hard_foil is not None and hard_foil.index >= 0
    }
    reduced_rows = [
        replace(row, foils=(row.foils[hard[row.id].index],), proficiency_caption=None, proficiency_foils=())
        for row in rows
        if row.id in hard
    ]
    if not reduced_rows:
        return None
    sources = dict(Counter(hard[row.id].source for row in reduced_rows))
    return {**pairwise.compute(pair_scores(reduced_rows), ties=policy, draws=draws), "sources": sources}


def two_clip_results(
    rows: Sequence[ReleaseScore], policy: str, draws: int, *, winners: bool, shares: bool
) -> dict[str, Any] | None:
    """Return metrics.two_clips of the rows of both halves; None without any pair. `incomplete`: pairs with one half.

    `shares`: each score is a share among the texts of its item; `winners`: only the winner of an item is known.
    """
    pair_keys = [(row.subtest, row.pair) if row.pair else None for row in rows]
    names = len(set(pair_keys) - {None})
    if not names:
        return None
    complete_pairs = two_of_each(pair_keys, [row.id for row in rows])
    if not complete_pairs:
        return {"tie_policy": policy, "scores": "", "overall": None, "subtests": {}, "incomplete": names}
    scores = pair_scores(rows)
    kind = two_clips.WINNERS if winners else two_clips.SHARES if shares else two_clips.ABSOLUTE
    data = two_clips.TwoClipScores(
        ids=[rows[first].pair for first, _other in complete_pairs],
        # Of each half: its caption, then its foil, which is the other half's caption.
        scores=np.array([[*scores.main[first][:2], *scores.main[second][1::-1]] for first, second in complete_pairs]),
        subtests=[rows[first].subtest for first, _other in complete_pairs],
        clusters=connected((rows[first].cluster, rows[second].cluster) for first, second in complete_pairs),
        kind=kind,
    )
    return {**two_clips.compute(data, ties=policy, draws=draws), "incomplete": names - len(complete_pairs)}


def is_winners_only(run: Run, rows: Sequence[ReleaseScore]) -> bool:
    """Report whether the run's scores come from predictions, or from right and wrong: they have no ranks.

    Scores stored before they had their own kind are detected by value: one 1 among zeros in every item of a CSV.
    """
    if any(row.kind == WINNER for row in rows):
        return True
    values = ([row.caption, *row.foils] for row in rows)
    is_table = run.spec.startswith(SCORE_FILE) and run.spec.lower().endswith(".csv")
    return is_table and all(sorted(row_values) == [0.0] * (len(row_values) - 1) + [1.0] for row_values in values)


def _ranked(rows: Sequence[ReleaseScore]) -> ChoiceScores | None:
    """Return the items of two foils and more; None if there are none, because T is enough then."""
    several = [row for row in rows if len(row.foils) > 1]
    if not several:
        return None
    data = pair_scores(several)
    return ChoiceScores(data.ids, data.main, np.zeros(len(several), dtype=np.int64), data.clusters)


def _controlled(run: Run, ranked: ChoiceScores | None) -> ChoiceScores | None:
    """Return the same items among sampled captions, if the run has scored them; two queries."""
    if ranked is None or not run.params.get("control"):
        return None
    records = scored_records(run.release)
    texts = control_texts(records, run.params["control"])
    scores, _kind, higher = stored_scores(run)
    sign, by, unscored = 1.0 if higher else -1.0, keyed_by(run), unscored_parts(run)
    cluster_of = dict(zip(ranked.ids, ranked.clusters, strict=True))
    values_by_id = {
        record["id"]: [sign * value for value in values]
        for record in records
        if record["id"] in cluster_of
        and (record["id"], "control") not in unscored
        and (among := texts[record["id"]])
        and (values := values_of(scores, score_key(by, record, "control", among), among)) is not None
    }
    if not values_by_id:
        return None
    clusters = [cluster_of[name] for name in values_by_id]
    return ChoiceScores(
        list(values_by_id), padded(list(values_by_id.values())), np.zeros(len(values_by_id), dtype=np.int64), clusters
    )


def counted(run: Run, rows: Sequence[ReleaseScore]) -> tuple[list[ReleaseScore], list[str]]:
    """Return the rows that count under the run's protocol, and the ids of the others."""
    if not PROTOCOLS[run.protocol].paired_only:
        return list(rows), []
    paired = [row for row in rows if row.proficiency_caption is not None]
    return paired, [row.id for row in rows if row.proficiency_caption is None]


def pair_scores(rows: Sequence[ReleaseScore]) -> pairwise.PairScores:
    """Return rows as arrays in which higher is better."""
    signs = [1.0 if row.higher_is_better else -1.0 for row in rows]
    main = [[sign * value for value in (row.caption, *row.foils)] for sign, row in zip(signs, rows, strict=True)]
    simpler = [
        [] if row.proficiency_caption is None else [sign * v for v in (row.proficiency_caption, *row.proficiency_foils)]
        for sign, row in zip(signs, rows, strict=True)
    ]
    return pairwise.PairScores(
        ids=[row.id for row in rows],
        main=padded(main),
        proficiency=padded(simpler),
        subtests=[row.subtest for row in rows],
        tests=[row.test for row in rows],
        clusters=[row.cluster for row in rows],
    )
