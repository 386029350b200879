"""The human baseline: whose it is, in which order the texts stand, what a choice counts for."""

from datetime import timedelta
from itertools import pairwise

import pytest
from django.test import override_settings
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.items import requeue, retract, take_down_video
from annotation.actions.people import remove_answers
from annotation.actions.quality.validators import exclude_votes
from annotation.actions.studies import open_baseline
from annotation.actions.submissions.judgements import submit_choice
from annotation.actions.undo import undo_choice
from annotation.errors import AnnotationError, WorkRefused
from annotation.models import Involvement, Lease, Slot, Stage, Task, Vote
from annotation.queries.personal_data import own_data
from annotation.rules.baseline import CAPTION, chosen_text, drawn, order_shown
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.human_baseline import human_line
from evaluation.scoring.run_results import axes_of
from foilworks.core.corpus.models import Foil, Item, MediaState
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import Role, User
from tests import factories
from tests.annotation.world import World, new_key
from tests.invariants import broken_invariants

FOILS = tuple(f"a man does thing {n} to a shirt." for n in range(5))
seeds = st.integers(0, 2**31)


@given(seeds, st.integers(2, 9), st.integers(1, 10**6))
def test_every_text_of_an_item_is_shown_once(seed, texts, item):
    foils = list(range(1, texts))
    assert sorted(order_shown(seed, item, 9, foils)) == [CAPTION, *foils]


def test_the_caption_is_in_each_place_equally_often_and_says_nothing_about_the_next_item():
    """6,000 items of six texts: 1,000 in each place, and 1,000 as the item before; four deviations are 116."""
    places = [order_shown("secret", item, 9, range(1, 6)).index(CAPTION) for item in range(6000)]
    assert all(abs(places.count(place) - 1000) < 116 for place in range(6))
    assert abs(sum(one == other for one, other in pairwise(places)) - 1000) < 116


def test_two_people_see_the_foils_of_an_item_in_two_orders_and_each_their_own_again():
    foils = list(range(1, 9))
    orders = {person: order_shown(1, 5, person, foils) for person in range(50)}
    assert len({tuple(order) for order in orders.values()}) > 45
    assert orders[3] == order_shown(1, 5, 3, foils)


@pytest.mark.parametrize("answer", ["0", "4", "", "x", "1.0", "²", "-1", None, True, "999", "002", "first"])
def test_a_text_that_was_not_shown_is_not_an_answer(answer):
    assert chosen_text([5, CAPTION, 6], answer) is None


def test_a_sample_is_the_seeds_and_of_its_size():
    ids = list(range(100))
    assert drawn(ids, 10, 3) == drawn(ids[::-1], 10, 3) != drawn(ids, 10, 4)
    assert len(set(drawn(ids, 10, 3))) == 10
    assert sorted(drawn(ids, None, 3)) == ids
    assert drawn(ids, 500, 3) == drawn(ids, None, 3)


def valid_item(world: World, foils=FOILS, **fields) -> Item:
    item = world.item(*foils, state="valid", **fields)
    item.foils.update(verdict="valid")
    return item


def ask(world: World, **options) -> int:
    return open_baseline(world.owner, world.project, **options)


def choose(world: World, name: str, text: int | None = CAPTION, **also) -> Vote:
    """Claim the next item and choose the text (None: the first foil shown)."""
    work = world.claim(name, Stage.BASELINE)
    order = Lease.objects.get(token=work.token).order_shown
    at = next(n for n, shown in enumerate(order, 1) if (shown == text if text is not None else shown != CAPTION))
    return submit_choice(getattr(world, name), work.token, new_key(), at, **also)


def test_a_choice_is_stored_with_its_order_and_moves_no_item(world):
    item = valid_item(world)
    assert ask(world) == 1
    right = choose(world, "ann", watch={"seconds": 3, "covered": 1})
    assert (right.choice, right.foil, right.stage) == ("caption", None, "baseline")
    assert sorted(right.order_shown) == sorted([CAPTION, *item.foils.values_list("pk", flat=True)])
    assert right.watch == {"seconds": 3.0, "covered": 1.0}
    assert Task.objects.get(stage=Stage.BASELINE).state == "done"
    other = valid_item(world)
    ask(world)
    wrong = choose(world, "ann", None)
    assert (wrong.choice, wrong.foil.item) == ("foil", other)
    assert set(Item.objects.values_list("state", flat=True)) == {"valid"}
    assert broken_invariants() == []


def test_the_order_stays_when_the_page_is_loaded_again_and_after_an_undo(world):
    valid_item(world)
    ask(world)
    work = world.claim("ann", Stage.BASELINE)
    again = world.claim("ann", Stage.BASELINE)
    assert (again.token, again.resumed) == (work.token, True)
    order = Lease.objects.get(token=work.token).order_shown
    vote = submit_choice(world.ann, work.token, "k", 1)
    assert submit_choice(world.ann, work.token, "k", 2).pk == vote.pk
    back = undo_choice(world.ann, vote.pk)
    assert Lease.objects.get(token=back.token).order_shown == order
    counted = submit_choice(world.ann, back.token, "k2", 2)
    assert sorted(Vote.objects.values_list("state", flat=True)) == ["counted", "undone"]
    assert counted.slot.state == "done"


def test_a_persons_data_contains_the_chosen_number_but_not_its_text(world):
    for _each in range(4):
        valid_item(world)
    ask(world)
    for place in (2, 2, 5):
        submit_choice(world.ann, world.claim("ann", Stage.BASELINE).token, new_key(), place)
    told = own_data(world.ann)["judgements"]
    assert [row["answer"] for row in told] == [2, 2, 5]
    assert {name for row in told for name in row} == {"answer", "watch", "seconds_spent", "created_at"}


@pytest.mark.parametrize("overlap", [1, 2])
def test_a_choice_cannot_be_undone_if_its_task_is_cancelled(world, overlap):
    item = valid_item(world)
    ask(world, overlap=overlap)
    vote = choose(world, "ann")
    take_down_video(world.owner, world.project.slug, item.video_id, "asked to")
    with pytest.raises(AnnotationError, match="This task was cancelled"):
        undo_choice(world.ann, vote.pk)
    vote.refresh_from_db()
    assert (vote.state, Lease.objects.filter(ending="").exists()) == ("counted", False)
    assert broken_invariants() == []


def test_the_overlap_holds_and_late_work_does_not_count(world):
    valid_item(world)
    ask(world, overlap=2)
    people = [factories.make_member(world.project, Role.ANNOTATOR) for _ in range(3)]
    hour = timezone.now() + timedelta(hours=1)
    late = claim(people[0], world.project, Stage.BASELINE)
    for person in people[1:]:
        work = claim(person, world.project, Stage.BASELINE, now=hour)
        submit_choice(person, work.token, new_key(), 1, now=hour)
    vote = submit_choice(people[0], late.token, new_key(), 1, now=hour)
    assert (vote.state, vote.late, vote.slot) == ("surplus", True, None)
    assert Vote.objects.filter(state="counted").count() == 2


def test_a_person_involved_in_the_video_cannot_claim_it(world):
    """Written by ann, reviewed by rita, judged by vera: of all, abe alone may take the baseline."""
    group = world.group()
    world.edit("ann")
    world.review("rita")
    for name in ("vera", "vic", "val"):
        world.vote(name)
    group.refresh_from_db()
    assert group.item.state == "valid"
    for name in ("rita", "vera"):
        world.project.memberships.create(person=getattr(world, name), role=Role.ANNOTATOR)
    ask(world)
    names = ("ann", "rita", "vera", "abe")
    # Roles are cached on a person for a request.
    people = {name: User.objects.get(pk=getattr(world, name).pk) for name in names}
    claims = {name: claim(person, world.project, Stage.BASELINE) for name, person in people.items()}
    assert [name for name, work in claims.items() if work] == ["abe"]


def test_judging_another_item_of_the_video_meanwhile_refuses_the_submit(world):
    item = valid_item(world)
    ask(world)
    work = world.claim("ann", Stage.BASELINE)
    Involvement.objects.create(project=world.project, person=world.ann, video=item.video, kind="judged")
    with pytest.raises(WorkRefused):
        submit_choice(world.ann, work.token, "k", 1)
    assert Slot.objects.get().state == "free"
    assert not Vote.objects.exists()


def test_one_item_of_a_video_a_person(world):
    caption = factories.make_caption(factories.make_video(world.project))
    for _ in range(2):
        valid_item(world, caption=caption)
    assert ask(world) == 2
    choose(world, "ann")
    assert world.claim("ann", Stage.BASELINE) is None


def test_exactly_the_sample_is_asked_and_nothing_twice(world):
    for _ in range(6):
        valid_item(world)
    world.item(*FOILS)
    valid_item(
        world, caption=factories.make_caption(factories.make_video(world.project, media_state=MediaState.MISSING))
    )
    other = factories.make_subtest(world.project)
    factories.make_item(other, state="valid")
    assert ask(world, subtest=world.subtest, size=4, seed=1, overlap=3) == 4
    first = set(Task.objects.values_list("item", flat=True))
    assert ask(world, subtest=world.subtest, size=4, seed=1) == 0
    assert ask(world) == 3
    assert Task.objects.count() == 7
    assert set(Task.objects.filter(overlap=3).values_list("item", flat=True)) == first


@pytest.mark.parametrize("options", [{"size": 0}, {"overlap": 0}, {"overlap": 99}, {}])
def test_nothing_to_ask_for_says_what_to_do(world, options):
    with pytest.raises(AnnotationError):
        ask(world, **options)


def test_only_a_researcher_opens_it(world):
    valid_item(world)
    for name in ("ann", "rita", "vera"):
        with pytest.raises(AccessDenied):
            open_baseline(getattr(world, name), world.project)


def test_foils_that_dropped_out_are_not_shown(world):
    item = valid_item(world)
    dropped = item.foils.first()
    item.foils.filter(pk=dropped.pk).update(verdict="invalid")
    ask(world)
    order = Lease.objects.get(token=world.claim("ann", Stage.BASELINE).token).order_shown
    assert len(order) == 5
    assert dropped.pk not in order


def test_an_opened_baseline_does_not_change_with_later_votes(world):
    """Its only foil is refused in the end: what the release holds is a choice of two all the same."""
    item = world.made_item()
    for name in ("vera", "vic", "val"):
        world.vote(name)
    release = freeze_release(world.owner, world.project)
    ask(world, release=release)
    for name in ("vera", "vic"):
        exclude_votes(world.owner, world.project, getattr(world, name).pk)
        world.people[f"other {name}"] = factories.make_member(world.project, Role.VALIDATOR)
        world.vote(f"other {name}", "foil")
    item.refresh_from_db()
    assert item.state == "invalid"
    order = Lease.objects.get(token=world.claim("abe", Stage.BASELINE).token).order_shown
    assert sorted(order) == [CAPTION, item.foils.get().pk]


def test_a_baseline_uses_the_foils_of_its_release_or_the_present_ones(world):
    items = [valid_item(world, FOILS[:2]) for _ in range(2)]
    release = freeze_release(world.owner, world.project)
    kept = [list(item.foils.values_list("pk", flat=True)) for item in items]
    for first, _ in kept:
        Foil.objects.filter(pk=first).update(verdict="invalid")
    Item.objects.filter(pk=items[0].pk).update(subtest=factories.make_subtest(world.project))
    assert ask(world, release=release, subtest=world.subtest) == ask(world) == 1
    asked = dict(Task.objects.values_list("item", "foils_asked"))
    assert asked == {items[0].pk: kept[0][1:], items[1].pk: kept[1]}


def test_a_baseline_from_before_foils_were_kept_never_asks_for_one_text_alone(world):
    item = valid_item(world, FOILS[:1])
    ask(world)
    Task.objects.update(foils_asked=None)
    item.foils.update(verdict="invalid")
    order = Lease.objects.get(token=world.claim("ann", Stage.BASELINE).token).order_shown
    assert sorted(order) == [CAPTION, item.foils.get().pk]


@pytest.mark.parametrize(("act", "state"), [(retract, "valid"), (requeue, "invalid")])
def test_nobody_is_asked_about_an_item_that_is_gone(world, act, state):
    item = valid_item(world)
    ask(world, overlap=3)
    choose(world, "ann")
    held = world.claim("abe", Stage.BASELINE)
    item.foils.update(verdict=state)
    Item.objects.update(state=state)
    act(world.owner, item.pk, "blurred")
    assert sorted(Slot.objects.filter(stage=Stage.BASELINE).values_list("state", flat=True)) == [
        "cancelled",
        "cancelled",
        "done",
    ]
    world.people["ada"] = factories.make_member(world.project, Role.ANNOTATOR)
    assert world.claim("ada", Stage.BASELINE) is None
    late = submit_choice(world.abe, held.token, "k", 1)
    assert (late.state, Vote.objects.filter(state="counted").count()) == ("surplus", 1)
    assert broken_invariants() == []


@pytest.mark.parametrize(("gone", "state"), [(True, "cancelled"), (False, "free")])
def test_a_choice_that_is_removed_frees_its_place_unless_the_item_is_gone(world, gone, state):
    item = valid_item(world)
    ask(world)
    choose(world, "ann")
    if gone:
        retract(world.owner, item.pk, "blurred")
    assert remove_answers(world.ann, world.project, world.owner, timezone.now()) == 1
    assert Slot.objects.get().state == state
    assert Task.objects.get().state == ("done" if gone else "open")
    assert (world.claim("abe", Stage.BASELINE) is None) == gone


def test_the_captions_position_needs_the_secret(world):
    """Row numbers can be guessed, and the source is public."""
    for _each in range(12):
        valid_item(world)
    ask(world)
    shown, computed = [], []
    for _each in range(12):
        choose(world, "ann")
        lease = Lease.objects.select_related("slot__project").latest("pk")
        slot, foils = lease.slot, sorted(set(lease.order_shown) - {CAPTION})
        shown.append(lease.order_shown)
        with override_settings(DERIVATION_KEY="the cheater's guess"):
            seed = secret_seed("order-of-baseline", slot.project_id)
        computed.append(order_shown(seed, slot.item_id, slot.person_id, foils))
        seed = secret_seed("order-of-baseline", slot.project_id)
        assert order_shown(seed, slot.item_id, slot.person_id, foils) == lease.order_shown
    assert shown != computed


def test_the_leaderboard_reads_it_and_validation_does_not(world):
    items = [valid_item(world) for _ in range(4)]
    release = freeze_release(world.owner, world.project)
    ask(world, release=release, overlap=3)
    people = [factories.make_member(world.project, Role.ANNOTATOR, name=f"reader{n}") for n in range(3)]
    for n, person in enumerate(people):
        world.people[person.username] = person
        for k in range(4):
            choose(world, person.username, None if n == 0 and k < 2 else CAPTION)
    line = human_line(release, axes_of(release))
    assert (line["n"], line["n_choices"], line["n_majority"], line["majority"]) == (4, 12, 4, 1.0)
    assert line["T"] == pytest.approx(10 / 12)
    assert line["T_ci"] is not None
    assert {item.pk for item in items} == set(Vote.objects.values_list("item", flat=True))
    assert not Vote.objects.filter(stage=Stage.VALIDATION).exists()
