"""A small sample project, built once for this file: real actions, real jobs run in place, real training."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import krippendorff
import numpy as np
import pytest
from django.db import transaction
from django.test import override_settings

from annotation.actions.claims.claim import ROLE_OF_STAGE, claim
from annotation.models import Edit, Involvement, Review, Stage, Vote
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Item, Release, Subtest, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import AuditEvent, Membership, Project, Role, User
from foilworks.site.demo import plan, run
from foilworks.site.demo.captions import is_true
from foilworks.site.demo.cast import PASSWORD, PLAYERS, VISITORS, drawn
from foilworks.site.demo.plan import Sizes
from foilworks.site.demo.run import build
from foilworks.site.management.commands.demo import Command
from generation.models import Candidate

# One test process builds the demo once for all of them.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("demo")]
SIZES = Sizes(training=14, pairs=14, counting=12, free=2)
CHOICES = ["caption", "foil", "neither", "both", "cannot_tell"]


class Built(NamedTuple):
    project: Project
    release: Release
    runs: list[Run]


def silent(things: Iterable[Any], _total: int, _label: str) -> Iterator[Any]:
    yield from things


def in_place(job: Job, _timeout_s: float) -> None:
    run_now(job)


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Built]:
    """Rolled back at the end of the file."""
    home = tmp_path_factory.mktemp("home")
    folders = {name: home / name.lower() for name in ("MEDIA_ROOT", "EXPORT_ROOT", "MODEL_ROOT", "CACHE_ROOT")}
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(**folders):
            made = Built(*build(3, SIZES, silent, in_place))
        yield made
        transaction.set_rollback(True)


@pytest.fixture
def result(built: Built) -> dict[str, Any]:
    return run.numbers(*built)


def exported(result: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(result["export"]) / name).read_text(encoding="utf-8").splitlines()]


def direction(built: Built) -> list[Item]:
    rows = Item.objects.filter(subtest__project=built.project, subtest__name=plan.DIRECTION_SUBTEST)
    return list(rows.select_related("video", "caption", "proficiency_item").prefetch_related("foils"))


def test_every_evaluation_clip_became_a_decided_item_with_its_object_check(built: Built) -> None:
    items = direction(built)
    assert len(items) == 2 * SIZES.pairs
    assert {item.state for item in items} <= {ItemState.VALID, ItemState.INVALID, ItemState.DISPUTED}
    assert all(item.proficiency_item for item in items)


def test_a_clip_and_its_reversal_are_released_together_or_not_at_all(built: Built) -> None:
    released = {item.pk for item in direction(built) if item.released_as.exists()}
    assert len(released) == built.release.n_items
    sources = defaultdict(set)
    for item in direction(built):
        sources[item.video.source_id].add((item.pk in released, item.state, item.proficiency_item.state))
    assert all(len(states) == 1 for states in sources.values())


def test_unnoticed_errors_are_rejected_by_the_validators(built: Built) -> None:
    """14 scenes: 4 foils are left true (.28 x 14), of which 2 are overlooked (.6 x 4): two clips each."""
    true = [item for item in direction(built) if is_true(item.foils.all()[0].text, item.caption.text)]
    assert len(true) == 4
    judged = Counter(vote.choice for item in true for vote in item.votes.all())
    assert judged.most_common(1)[0][0] == "both"
    states = Counter(item.state for item in direction(built))
    assert (states[ItemState.INVALID] + states[ItemState.DISPUTED]) / len(direction(built)) >= 0.1


def test_noticed_errors_were_sent_back_and_corrected(built: Built) -> None:
    sent_back = Review.objects.filter(decision="send_back", candidate__group__run__subtest__name=plan.DIRECTION_SUBTEST)
    assert sent_back.count() == 4
    for review in sent_back.select_related("candidate__group__caption"):
        group = review.candidate.group
        assert is_true(review.candidate.text, group.caption.text)
        (foil,) = group.item.foils.all()
        assert not is_true(foil.text, group.caption.text)


def test_everybody_is_simulated_and_nobody_judged_their_own_work(built: Built) -> None:
    for model in (Edit, Review, Vote):
        assert set(model.objects.values_list("person__is_simulated", flat=True)) == {True}
    hands = defaultdict(set)
    for person, video, kind in Involvement.objects.values_list("person", "video", "kind"):
        hands[person, video].add(kind)
    assert all(len(kinds) == 1 for kinds in hands.values())
    assert {person for person, _ in hands} == set(
        User.objects.filter(
            username__in=[player.username for player in PLAYERS if player.role != Role.RESEARCHER]
        ).values_list("pk", flat=True)
    )


def test_error_rates_are_in_the_data(built: Built) -> None:
    stated = {
        member.person.username: member.simulated_traits
        for member in Membership.objects.filter(project=built.project).select_related("person")
    }
    assert stated == {**{p.username: p.traits for p in PLAYERS}, **{name: {} for name in VISITORS.values()}}


@pytest.mark.parametrize("stage", [Stage.EDIT, Stage.REVIEW, Stage.VALIDATION])
def test_a_visitor_finds_work_at_every_stage(built: Built, stage: Stage) -> None:
    visitor = User.objects.get(username=VISITORS[ROLE_OF_STAGE[stage]])
    assert claim(visitor, built.project, stage) is not None


def test_visitors_can_sign_in_with_the_published_accounts_and_own_no_other(built: Built, client) -> None:
    page = client.get("/sign-in/").content.decode()
    for username in VISITORS.values():
        assert username in page
        assert client.login(username=username, password=PASSWORD)
    assert not any(User.objects.get(username=player.username).has_usable_password() for player in PLAYERS)


def test_training_clips_are_of_the_train_split_and_have_no_foils(built: Built) -> None:
    train = Video.objects.filter(project=built.project, split="train")
    assert train.count() == SIZES.training
    assert not Candidate.objects.filter(group__caption__video__in=train).exists()


def test_the_owner_made_everything_through_audited_actions(built: Built) -> None:
    made = AuditEvent.objects.filter(project=built.project).values_list("action", flat=True)
    assert {"corpus.create_subtest", "generation.start_run", "evaluation.freeze_release", "submit_vote"} <= set(made)


def test_the_numbers_have_the_promised_keys(result: dict[str, Any]) -> None:
    assert {"items", "valid", "unanimous", "alpha", "js_all", "js_valid", "models", "export"} <= result.keys()
    assert set(result["models"]) == {"average", "temporal"}
    assert all(set(scores) == {"T", "P", "P+T", "n"} for scores in result["models"].values())
    json.dumps(result, allow_nan=False)


def test_alpha_comes_out_of_the_exported_votes(result: dict[str, Any]) -> None:
    votes = [vote for vote in exported(result, "votes.jsonl") if vote["kind"] == "main"]
    people, items = (sorted({vote[name] for vote in votes}) for name in ("annotator", "item"))
    table = np.full((len(people), len(items)), np.nan)
    for vote in votes:
        table[people.index(vote["annotator"]), items.index(vote["item"])] = CHOICES.index(vote["choice"])
    expected = krippendorff.alpha(table, level_of_measurement="nominal", value_domain=list(range(5)))
    assert result["alpha"] == pytest.approx(expected, abs=1e-12)


def test_counts_come_out_of_the_exported_items(result: dict[str, Any]) -> None:
    items = exported(result, "items.jsonl")
    assert result["items"] == len(items)
    assert result["valid"] == sum(item["state"] == "valid" for item in items)
    assert result["unanimous"] == sum(item["unanimous"] is True for item in items)
    assert {vote["simulated"] for vote in exported(result, "votes.jsonl")} == {True}


@pytest.mark.parametrize("name", ["average", "temporal"])
def test_model_numbers_come_out_of_the_exported_scores(result: dict[str, Any], name: str) -> None:
    """By hand: a share of items whose caption scores above its foil; no two scores are equal here."""
    rows = [row for row in exported(result, f"scores/{name}.jsonl") if "proficiency" in row]
    main = [row["caption"] > row["foils"][0] for row in rows]
    simpler = [row["proficiency"]["caption"] > row["proficiency"]["foils"][0] for row in rows]
    both = [a and b for a, b in zip(main, simpler, strict=True)]
    expected = {"T": np.mean(main), "P": np.mean(simpler), "P+T": np.mean(both), "n": len(rows)}
    assert result["models"][name] == pytest.approx(expected)


def test_the_finished_project_is_found_again_by_its_seed_alone(built: Built) -> None:
    found = run.finished(3)
    assert found is not None
    assert (found[0], found[1]) == (built.project, built.release)
    assert run.finished(4) is None


def test_another_demo_moves_this_one_away_with_its_content(built: Built) -> None:
    run._free_short_name()
    built.project.refresh_from_db()
    assert built.project.slug == f"demo-{built.project.pk}"
    assert built.project.sign_in_hint == {}
    assert Subtest.objects.filter(project=built.project).count() == 4
    assert run.finished(3) is None


def test_errors_are_drawn_in_exact_numbers_and_by_seed() -> None:
    scenes = [f"scene-{i}" for i in range(84)]
    assert len(drawn(scenes, 0.28, 0, "a")) == 24  # 23.52 rounded
    assert drawn(scenes, 0.28, 0, "a") == drawn(reversed(scenes), 0.28, 0, "a")
    assert drawn(scenes, 0.28, 0, "a") != drawn(scenes, 0.28, 1, "a")
    assert drawn(scenes, 0.0, 0) == frozenset()


def test_it_ends_with_the_accounts_and_the_address(built, tmp_path):
    with override_settings(EXPORT_ROOT=tmp_path):
        result = run.numbers(built.project, built.release, built.runs)
    said = Command().render(result)
    assert said.startswith(f"{result['items']} items")
    for told in (built.release.name, *VISITORS.values(), PASSWORD, "T: ", "P+T: ", "make up", "http://127.0.0.1:8000"):
        assert told in said
    assert said.endswith("docs/tutorial.md")
    assert Command().render({"served": True}) == "stopped"
