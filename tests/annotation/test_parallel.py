"""Many hands at once on a real database file: real threads, a connection each, no lock but the database's own."""

from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import Barrier, Event
from time import monotonic, sleep

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import Count
from django.http import Http404
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.captions import drop_caption
from annotation.actions.leases.leasing import order_seed
from annotation.actions.quality.validators import exclude_votes, pause_validator
from annotation.actions.settings.work_settings import set_vote_rule
from annotation.actions.studies import open_baseline
from annotation.actions.submissions.judgements import judge_and_claim, submit_choice, submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.groups import assemble
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.actions.workflow.verdicts import flag_captions, locked_item
from annotation.errors import AnnotationError
from annotation.models import Lease, Slot, SlotState, Stage, Task, Vote
from annotation.queries.cards import Claim
from annotation.rules.baseline import CAPTION
from annotation.rules.ordering import caption_first
from annotation.rules.voting import VoteRule
from annotation.transactions import serialize_writes, was_rolled_back_by_the_database
from foilworks.core.corpus.models import Caption, Item, Subtest
from foilworks.core.projects.models import Role, User
from generation.models import Candidate, CandidateGroup
from tests import factories
from tests.annotation.crowd import open_policy, stock
from tests.annotation.world import make_world, sending, shown_as
from tests.invariants import broken_invariants
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 30


@pytest.fixture(autouse=True)
def sound_at_the_end():
    """`foilworks check` finds nothing, but for the files that the factory's clips lack."""
    yield
    assert broken_invariants() == []


def in_threads(work, arguments: list) -> list:
    """`work(argument)` for all at once, begun together, each on a database connection of its own."""
    barrier = Barrier(len(arguments))

    def run(argument):
        with closing(connection):
            barrier.wait(timeout=PATIENCE_SECONDS)
            return work(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


def validators(world, number: int) -> list:
    return [factories.make_member(world.project, Role.VALIDATOR) for _ in range(number)]


def test_thirty_validators_who_submit_for_the_next_task_collect_exactly_three_votes_per_item():
    """The same with a submit and a claim in one transaction: nobody is over the number, and every item is decided."""
    world = make_world()
    items = [world.item() for _ in range(40)]
    make_tasks(world.project)

    def judge(person) -> tuple[int, int]:
        done, continued = 0, 0
        work = claim(person, world.project, Stage.VALIDATION)
        while work:
            judged = judge_and_claim(sending(person, work.token, work.token[:20]), 1 + done % 5)
            done, continued = done + 1, continued + (judged.claim is not None)
            work = judged.claim or claim(person, world.project, Stage.VALIDATION)
        return done, continued

    done = in_threads(judge, validators(world, WORKERS))
    assert sum(number for number, _continued in done) == 120
    assert any(continued for _number, continued in done)
    assert set(Vote.objects.values_list("item").annotate(n=Count("pk")).values_list("n", flat=True)) == {3}
    assert not Item.objects.filter(pk__in=[item.pk for item in items], state="in_validation").exists()
    assert not Slot.objects.exclude(state=SlotState.DONE).exists()


def test_one_answer_sent_four_times_at_once_is_stored_once():
    world = make_world()
    for _ in range(8):
        world.item()
    make_tasks(world.project)
    work = world.claim("vera", Stage.VALIDATION)
    found = in_threads(lambda key: judge_and_claim(sending(world.vera, work.token, key), 1), ["k"] * 4)
    assert {judged.record for judged in found} == {Vote.objects.get()}
    assert sum(judged.claim is not None for judged in found) == 1
    assert Slot.objects.filter(person=world.vera, state=SlotState.LEASED).count() == 1


def test_thirty_validators_collect_exactly_three_votes_per_item():
    """40 items x 3 places = 120 votes by 30 people; each works until there is nothing left for them."""
    world = make_world()
    items = [world.item() for _ in range(40)]
    make_tasks(world.project)

    def judge(person) -> int:
        done = 0
        while work := claim(person, world.project, Stage.VALIDATION):
            submit_vote(person, work.token, f"{work.token[:20]}", 1 + done % 5)
            done += 1
        return done

    done = in_threads(judge, validators(world, WORKERS))
    assert sum(done) == 120
    assert Vote.objects.filter(state="counted").count() == Vote.objects.count() == 120
    assert set(Vote.objects.values_list("item").annotate(n=Count("pk")).values_list("n", flat=True)) == {3}
    assert Vote.objects.values("item", "person").distinct().count() == 120
    assert set(Slot.objects.values_list("state", flat=True)) == {SlotState.DONE}
    # Nobody was ever given a slot that somebody else held: one lease a slot, since none expired.
    assert Counter(Lease.objects.values_list("slot", flat=True)).most_common(1)[0][1] == 1
    assert not Item.objects.filter(pk__in=[item.pk for item in items], state="in_validation").exists()


def test_thirty_people_take_the_baseline_of_each_item_as_often_as_required():
    """20 items, 2 people each: 40 choices by 30 people, nobody twice on an item, each shown every text once."""
    world = make_world()
    for _ in range(20):
        world.item("foil one.", "foil two.", state="valid").foils.update(verdict="valid")
    assert open_baseline(world.owner, world.project, overlap=2) == 20

    def choose(person) -> int:
        done = 0
        while work := claim(person, world.project, Stage.BASELINE):
            submit_choice(person, work.token, work.token[:20], 1 + done % 3)
            done += 1
        return done

    people = [factories.make_member(world.project, Role.ANNOTATOR) for _ in range(WORKERS)]
    assert sum(in_threads(choose, people)) == 40
    votes = Vote.objects.filter(stage=Stage.BASELINE, state="counted")
    assert set(votes.values_list("item").annotate(n=Count("pk")).values_list("n", flat=True)) == {2}
    assert votes.values("item", "person").distinct().count() == Vote.objects.count() == 40
    orders = votes.values_list("order_shown", flat=True)
    assert all(len(order) == len(set(order)) == 3 and CAPTION in order for order in orders)


def test_thirty_annotators_asking_at_once_get_thirty_different_groups():
    world = make_world()
    for _ in range(WORKERS):
        world.group()
    people = [factories.make_member(world.project, Role.ANNOTATOR) for _ in range(WORKERS)]
    claims = in_threads(lambda person: claim(person, world.project, Stage.EDIT), people)
    assert len({work.slot_id for work in claims}) == WORKERS
    assert set(Candidate.objects.values_list("state", flat=True)) == {"editing"}


def test_one_slot_claimed_by_thirty_people_goes_to_one():
    world = make_world(votes_wanted=1, votes_needed=1)
    world.item()
    claims = in_threads(lambda person: claim(person, world.project, Stage.VALIDATION), validators(world, WORKERS))
    assert sum(work is not None for work in claims) == 1


def test_one_person_asking_ten_times_at_once_gets_one_lease():
    world = make_world()
    for _ in range(5):
        world.item()
    claims = in_threads(lambda _: claim(world.vera, world.project, Stage.VALIDATION), [None] * 10)
    assert len({work.token for work in claims}) == 1
    assert Lease.objects.count() == 1


def test_the_same_key_four_times_at_once_gives_one_vote():
    world = make_world()
    world.item()
    work = claim(world.vera, world.project, Stage.VALIDATION)
    votes = in_threads(lambda answer: submit_vote(world.vera, work.token, "k", answer), [1, 2, 3, 4])
    assert len({vote.pk for vote in votes}) == 1
    assert Vote.objects.count() == 1


def test_four_keys_at_once_under_one_claim_give_one_vote():
    world = make_world()
    world.item()
    work = claim(world.vera, world.project, Stage.VALIDATION)

    def submit(key: str) -> bool:
        try:
            submit_vote(world.vera, work.token, key, 1)
        except AnnotationError:
            return False
        return True

    assert sum(in_threads(submit, ["a", "b", "c", "d"])) == 1
    assert Vote.objects.count() == 1


def test_two_last_votes_at_once_decide_the_item_once():
    world = make_world()
    item = world.item()
    world.vote("vera", "both")
    works = [(person, claim(person, world.project, Stage.VALIDATION)) for person in (world.vic, world.val)]
    in_threads(lambda pair: submit_vote(pair[0], pair[1].token, "k", "both"), works)
    item.refresh_from_db()
    assert (item.state, item.foils.get().verdict) == ("invalid", "invalid")
    assert item.votes.filter(state="counted").count() == 3


def test_two_last_acceptances_at_once_assemble_one_item():
    world = make_world(foils_per_item=2)
    world.group("a man unfolds a shirt.", "a man tears a shirt.")
    world.edit("ann", "a man unfolds a shirt.", "a man tears a shirt.")
    works = [(person, claim(person, world.project, Stage.REVIEW)) for person in (world.rita, world.rob)]
    in_threads(lambda pair: submit_review(pair[0], pair[1].token, "k", ReviewAnswer("accept")), works)
    assert Item.objects.get().foils.count() == 2


def test_people_editing_reviewing_and_judging_at_once_leave_a_sound_project():
    world = make_world()
    for _ in range(8):
        world.group("a man unfolds a shirt.", "a man tears a shirt.")
    people = [factories.make_member(world.project, role) for role in Role.values[:3] for _ in range(4)]

    def work(person) -> None:
        stage = {"annotator": Stage.EDIT, "reviewer": Stage.REVIEW, "validator": Stage.VALIDATION}[
            person.memberships.get().role
        ]
        for turn in range(10):
            held = claim(person, world.project, stage)
            if held is not None:
                _do(person, held, f"{turn}")

    in_threads(work, people)
    for item in Item.objects.all():
        assert item.votes.filter(state="counted").count() <= 3
        assert item.foils.count() == 1
    assert not Slot.objects.filter(state=SlotState.LEASED).exists()
    for candidate in Candidate.objects.filter(state="accepted"):
        assert candidate.foil is not None
    with pytest.raises(Http404):
        submit_vote(people[-1], "no-such-token", "k", 1)


def _do(person, held, key: str) -> None:
    if held.stage == Stage.EDIT:
        submit_edit(person, held.token, key, [f"a man washes {held.slot_id} shirts."])
    elif held.stage == Stage.REVIEW:
        submit_review(person, held.token, key, ReviewAnswer("accept"))
    else:
        submit_vote(person, held.token, key, 1)


def test_validators_with_gold_collect_all_votes_and_see_no_gold_twice():
    """12 items x 3 places by 12 people at once, every third piece gold out of six pairs."""
    world = make_world()
    stock(world.project, world.subtest, items=12, gold=6)
    open_policy(world.project, gold_rate=0.34, fast_share=0, gold_min=1000, position_min=1000)
    make_tasks(world.project)

    def judge(person) -> int:
        done = 0
        while work := claim(person, world.project, Stage.VALIDATION):
            submit_vote(person, work.token, work.token[:20], 1 + done % 5)
            done += 1
        return done

    done = in_threads(judge, validators(world, 12))
    real, gold = Vote.objects.filter(gold=None), Vote.objects.exclude(gold=None)
    assert sum(done) == real.count() + gold.count()
    assert set(real.values_list("item").annotate(n=Count("pk")).values_list("n", flat=True)) == {3}
    assert real.count() == 36
    assert gold.count() == gold.values("gold", "person").distinct().count() > 0
    assert not Slot.objects.filter(state=SlotState.LEASED).exists()


def test_a_pause_during_work_frees_all_leases():
    """The researcher pauses while the person asks and sends: whoever comes first, nothing is lost or left."""
    world = make_world()
    open_policy(world.project, gold_rate=0, fast_share=0)
    for _ in range(12):
        world.item()

    def work(turn: int) -> None:
        if turn == 0:
            pause_validator(world.owner, world.project, world.vera.pk)
            return
        try:
            held = claim(world.vera, world.project, Stage.VALIDATION)
            submit_vote(world.vera, held.token, f"k{turn}", 1)
        except AnnotationError:
            return

    in_threads(work, list(range(6)))
    assert not Slot.objects.filter(state=SlotState.LEASED).exists()
    states = set(Vote.objects.values_list("state", flat=True))
    assert states <= {"counted", "set_aside"}


@pytest.mark.parametrize("wanted", [2, 5])
def test_a_rule_is_changed_before_the_first_pair_is_shown_or_not_at_all(wanted):
    """The claims begin together with the change: whoever comes first, all pairs have the places of one rule."""
    world = make_world()
    for _ in range(4):
        world.item()
    make_tasks(world.project)
    people = validators(world, 5)

    def act(person):
        try:
            if person is not None:
                return claim(person, world.project, Stage.VALIDATION)
            return set_vote_rule(world.owner, world.subtest, VoteRule(wanted=wanted, needed=2))
        except AnnotationError as error:
            return str(error)

    *held, changed = in_threads(act, [*people, None])
    fixed = isinstance(changed, str)
    assert not fixed or "seen a pair" in changed
    assert all(isinstance(each, Claim | None) for each in held), held
    world.subtest.refresh_from_db()
    assert world.subtest.votes_wanted == (3 if fixed else wanted)
    overlaps = Task.objects.filter(stage=Stage.VALIDATION).values_list("overlap", flat=True)
    assert set(overlaps) == {world.subtest.votes_wanted}
    assert Lease.objects.count() == sum(each is not None for each in held)
    assert Slot.objects.filter(state=SlotState.LEASED).count() == Lease.objects.count()
    assert_ordered_by_their_places()


def one_after_the_other(first, *others, held_s: float = 0.4, then=None) -> list:
    """What the others give, begun while the transaction of `first` is open. It ends, with `then` at its end, so long
    after the others have come to where they have to wait, or are through."""
    begun, answers = Event(), []

    def holds():
        with closing(connection), transaction.atomic():
            first()
            begun.set()
            ends = monotonic() + PATIENCE_SECONDS
            while monotonic() < ends and (len(answers) < len(others) or still_on_their_way(answers)):
                sleep(0.02)
            sleep(held_s)
            if then is not None:
                then()

    def follows(work):
        with closing(connection):
            begun.wait(timeout=PATIENCE_SECONDS)
            try:
                return work()
            except AnnotationError as error:
                return str(error)

    with ThreadPoolExecutor(1 + len(others)) as pool:
        held = pool.submit(holds)
        answers += [pool.submit(follows, work) for work in others]
        held.result()
        return [answer.result() for answer in answers]


def still_on_their_way(answers: list[Future]) -> bool:
    """Whether fewer wait for a lock than are not through. SQLite does not say who waits."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0] < sum(not answer.done() for answer in answers)


def test_a_claim_during_a_rule_change_shows_the_texts_in_the_new_order():
    world = make_world(votes_wanted=1, votes_needed=1)
    for _ in range(12):
        world.item()
    make_tasks(world.project)
    claims = [lambda person=person: claim(person, world.project, Stage.VALIDATION) for person in validators(world, 8)]
    one_after_the_other(lambda: set_vote_rule(world.owner, world.subtest, VoteRule(wanted=2, needed=2)), *claims)
    assert Lease.objects.count() == len(claims)
    assert_ordered_by_their_places()


def assert_ordered_by_their_places() -> None:
    for lease in Lease.objects.select_related("slot__task"):
        slot = lease.slot
        seed, task = order_seed(slot.project_id), slot.task
        assert lease.caption_first == caption_first(seed, task.foil_id, slot.index, task.overlap)


class TestARuleIsChangedWhile:
    """Whoever is first, no item goes by another rule than its subtest says."""

    @pytest.fixture
    def group(self):
        """Its foil is accepted, so that an item can be made of it; with the subtest as it was."""
        world = make_world()
        made = world.group()
        made.candidates.update(state="accepted")
        return CandidateGroup.objects.select_related("run__subtest__project", "run__project").get(pk=made.pk)

    def change(self, group, wanted: int, needed: int):
        subtest = Subtest.objects.get(pk=group.run.subtest_id)
        owner = User.objects.get(memberships__project=group.run.project, memberships__role=Role.RESEARCHER)
        return set_vote_rule(owner, subtest, VoteRule(wanted=wanted, needed=needed))

    def holds_together(self, group) -> tuple[int, set[str]]:
        wanted = Subtest.objects.get(pk=group.run.subtest_id).votes_wanted
        overlaps = Task.objects.filter(stage=Stage.VALIDATION).values_list("overlap", flat=True)
        assert set(overlaps) == ({wanted} if wanted else set())
        return wanted, set(Item.objects.values_list("state", flat=True))

    def assemble(self, group):
        with transaction.atomic():
            assemble(group, None, timezone.now())

    def test_an_item_is_being_made(self, group):
        one_after_the_other(lambda: self.assemble(group), lambda: self.change(group, 5, 4))
        assert self.holds_together(group) == (5, {"in_validation"})

    def test_an_item_is_made_behind_it(self, group):
        one_after_the_other(lambda: self.change(group, 5, 4), lambda: self.assemble(group))
        assert self.holds_together(group) == (5, {"in_validation"})

    def test_an_item_is_being_made_that_waits_for_votes(self, group):
        (said,) = one_after_the_other(lambda: self.assemble(group), lambda: self.change(group, 0, 0))
        assert "Items of this subtest are waiting for votes" in said
        assert self.holds_together(group) == (3, {"in_validation"})

    def test_an_item_is_being_made_that_takes_none(self, group):
        self.change(group, 0, 0)
        (said,) = one_after_the_other(lambda: self.assemble(group), lambda: self.change(group, 3, 2))
        assert "Items of this subtest are already decided" in said
        assert self.holds_together(group) == (0, {"valid"})

    def test_items_come_in(self, group):
        """An import holds the project, and needs the subtest at its end."""
        caption = group.caption

        def comes_in():
            serialize_writes(group.run.project)
            factories.make_item(group.run.subtest, caption, foils=("a man tears a shirt.",))

        # Longer than PostgreSQL waits until it looks for a deadlock, so that the import would be the one that ends.
        one_after_the_other(comes_in, lambda: self.change(group, 5, 4), held_s=1.3)
        make_tasks(group.run.project)
        assert self.holds_together(group) == (5, {"in_validation"})


@pytest.mark.parametrize("proficiency_first", [True, False])
def test_an_item_and_its_proficiency_item_made_at_once_find_each_other(proficiency_first):
    world = make_world()
    proficiency = factories.make_subtest(world.project, name="objects", kind=Subtest.Kind.PROFICIENCY)
    Subtest.objects.filter(pk=world.subtest.pk).update(proficiency_subtest=proficiency)
    main = world.group()
    other = factories.make_group(factories.make_run(proficiency), main.caption)
    factories.make_candidate(other, "a man folds a towel.")
    Candidate.objects.update(state="accepted")
    groups = CandidateGroup.objects.select_related("caption", "run__subtest__project", "run__project").order_by("pk")
    first, second = reversed(groups) if proficiency_first else groups

    def made(group):
        with transaction.atomic():
            return assemble(group, None, timezone.now()).pk

    one_after_the_other(lambda: made(first), lambda: made(second))
    item = Item.objects.get(subtest=world.subtest)
    assert item.proficiency_item == Item.objects.get(subtest=proficiency)


class TestTwoItemsOfOneCaptionAreJudgedAtOnce:
    """Whoever is first, the caption is in doubt where most validators of one of them say so."""

    @pytest.fixture
    def world(self):
        """One vote decides an item."""
        made = make_world({"judge_caption_once": False}, votes_wanted=1, votes_needed=1)
        made.caption = made.item().caption
        made.other = made.item("a man tears a shirt.", caption=made.caption)
        make_tasks(made.project)
        return made

    def judging(self, world, name: str, choice: str):
        """The submit of what the person holds from now on."""
        person, work = world.people[name], world.claim(name, Stage.VALIDATION)
        return lambda: submit_vote(person, work.token, f"key of {name}", shown_as(choice, work))

    def in_doubt(self, world) -> bool:
        return Caption.objects.get(pk=world.caption.pk).flagged_false

    def test_one_caption_loses_its_doubt_while_the_other_is_doubted(self, world):
        vote = self.judging(world, "vera", "neither")()
        one_after_the_other(lambda: undo_vote(world.vera, vote.pk), self.judging(world, "vic", "neither"))
        assert self.in_doubt(world)

    def test_both_are_undone(self, world):
        votes = [self.judging(world, name, "foil")() for name in ("vera", "vic")]
        one_after_the_other(*(lambda vote=vote: undo_vote(vote.person, vote.pk) for vote in votes))
        assert not self.in_doubt(world)

    def test_one_is_found_in_doubt_while_the_other_is_not(self, world):
        """The other's transaction stands still where it first holds or changes the caption's row; by then it must not
        have read what the votes say."""
        found, other = self.judging(world, "vera", "neither"), self.judging(world, "vic", "caption")
        reached, over = Event(), Event()

        def stands_still(execute, sql, params, many, context):
            changes = sql.startswith('UPDATE "corpus_caption"')
            if changes or ('FROM "corpus_caption"' in sql and "FOR NO KEY UPDATE" in sql):
                reached.set()
                over.wait(timeout=1)
            return execute(sql, params, many, context)

        def slowly():
            try:
                with connection.execute_wrapper(stands_still):
                    other()
            finally:
                reached.set()

        def meanwhile():
            reached.wait(timeout=PATIENCE_SECONDS)
            found()
            over.set()

        in_threads(lambda work: work(), [slowly, meanwhile])
        assert self.in_doubt(world)

    def test_a_persons_votes_on_both_are_excluded_without_a_deadlock(self, world):
        """Who decides one item holds it, and comes to the caption; who sets aside must not hold the caption by then and
        wait for the item. Held for longer than PostgreSQL waits until it looks for a deadlock, and ends one of both."""
        for turn in range(2):
            work = world.claim("vera", Stage.VALIDATION)
            submit_vote(world.vera, work.token, f"key {turn}", shown_as("neither", work))
        one_after_the_other(
            lambda: locked_item(world.other.pk),
            without_a_deadlock(lambda: exclude_votes(world.owner, world.project, world.vera.pk)),
            then=lambda: (flag_captions([world.caption.pk]), sleep(1.3)),
        )
        assert set(Vote.objects.values_list("state", flat=True)) == {"set_aside"}
        assert not self.in_doubt(world)

    def test_dropping_a_caption_while_an_item_is_decided_does_not_deadlock(self, world):
        self.judging(world, "vera", "neither")()
        one_after_the_other(
            lambda: locked_item(world.other.pk),
            without_a_deadlock(lambda: drop_caption(world.owner, world.caption.pk, "it is a cat")),
            then=lambda: (flag_captions([world.caption.pk]), sleep(1.3)),
        )
        assert set(Item.objects.values_list("state", flat=True)) == {"retracted"}


def without_a_deadlock(work):
    """The same work; that PostgreSQL ended it, so that it had to be tried again, is a failure."""
    ended = []

    def watches(execute, sql, params, many, context):
        try:
            return execute(sql, params, many, context)
        except OperationalError as error:
            if was_rolled_back_by_the_database(error):
                ended.append(sql)
            raise

    def watched():
        with connection.execute_wrapper(watches):
            found = work()
        assert ended == []
        return found

    return watched
