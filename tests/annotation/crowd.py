"""Simulated validators who act through the real actions: careful ones, and those who fool around."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.errors import NotAdmitted
from annotation.models import GoldPair, QualityPolicy, Slot, Stage, Standing, Use
from annotation.rules.voting import ANSWERS
from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Subtest, Video
from foilworks.core.projects.models import Membership, Project, Role, User
from tests import factories

CLIP_SECONDS = 10.0
CAREFUL = 0.92
# What is true of the items, in turn: agreement beyond chance can only be seen where answers differ.
TRUTHS = ("caption", "caption", "neither", "caption", "foil", "both")


@dataclass(frozen=True)
class Kind:
    """How somebody answers, given the right answer as shown, and how long they take, in seconds."""

    answer: Callable[[Random, str], str]
    seconds: Callable[[Random], float]


def careful(random: Random, right: str) -> str:
    """Right 92 % of the time, else one of the four other answers."""
    return right if random.random() < CAREFUL else random.choice([other for other in ANSWERS if other != right])


def unhurried(random: Random) -> float:
    """Mostly longer than half of the clip: one answer in twenty comes sooner."""
    return 2.0 if random.random() < 0.05 else random.uniform(6.0, 20.0)


KINDS = {
    "honest": Kind(careful, unhurried),
    "always first": Kind(lambda random, right: "first", unhurried),
    "random": Kind(lambda random, right: random.choice(ANSWERS), unhurried),
    "too fast": Kind(careful, lambda random: random.uniform(0.5, 2.0)),
}


@dataclass(frozen=True)
class Outcome:
    """`paused_after`: how many pieces it took, None for never; `seen`: pieces that were claimed."""

    person: User
    kind: str
    paused_after: int | None
    seen: int


def stock(project: Project, subtest: Subtest, items: int, gold: int) -> None:
    """Items that wait for votes, each of a clip of its own, and gold, half of it mismatched."""
    _items(project, subtest, items)
    other = factories.make_subtest(project, votes_wanted=0, votes_needed=0)
    for number in range(gold):
        made = factories.make_item(
            other, factories.make_caption(factories.make_video(project, duration=CLIP_SECONDS)), state="valid"
        )
        # Decided before, by whoever.
        made.foils.update(verdict="valid")
        mismatched = number % 2 == 1
        GoldPair.objects.create(
            project=project,
            use=Use.MIXED,
            subtest=subtest,
            video=factories.make_video(project, duration=CLIP_SECONDS) if mismatched else made.video,
            caption_text=made.caption.text,
            foil_text=made.foils.get().text,
            answer="neither" if mismatched else "caption",
            mismatched=mismatched,
            item=made,
            foil=made.foils.get(),
        )


def _items(project: Project, subtest: Subtest, number: int) -> None:
    """The same as the factories make, in four writes."""
    ready = {"project": project, "media_state": MediaState.READY, "duration": CLIP_SECONDS, "fps": 12.0}
    videos = Video.objects.bulk_create(Video(key=f"stock {n}", **ready) for n in range(number))
    text, foil = "a man folds a shirt.", "a man unfolds a shirt."
    captions = Caption.objects.bulk_create(
        Caption(video=video, key=video.key, text=text, text_sha256=factories.sha(text)) for video in videos
    )
    made = Item.objects.bulk_create(
        Item(
            project=project,
            subtest=subtest,
            video_id=caption.video_id,
            caption=caption,
            key=caption.key,
            state="in_validation",
        )
        for caption in captions
    )
    Foil.objects.bulk_create(Foil(item=item, position=0, text=foil, text_sha256=factories.sha(foil)) for item in made)


def open_policy(project: Project, **fields) -> QualityPolicy:
    """A fifth of the pieces is gold, under a secret of the test's own; half a clip is too fast."""
    return QualityPolicy.objects.create(
        **{"project": project, "secret": 20260101, "gold_rate": 0.2, "fast_share": 0.5, **fields}
    )


def work(person: User, project: Project, kind: str, pieces: int, *, seed: object, start: datetime) -> Outcome:
    """The person takes up to so many pieces, one after the other; they stop where they are paused."""
    random, now, how = Random(f"{kind} {seed}"), start, KINDS[kind]
    for number in range(pieces):
        try:
            found = claim(person, project, Stage.VALIDATION, now=now)
        except NotAdmitted:
            return Outcome(person, kind, number, number)
        if found is None:
            return Outcome(person, kind, None, number)
        now += timedelta(seconds=how.seconds(random))
        answer = how.answer(random, right_answer(found.slot_id, found.caption_first))
        submit_vote(person, found.token, f"{person.pk}-{number}", answer, now=now)
    paused = Standing.objects.filter(person=person, policy__project=project, state="paused").exists()
    return Outcome(person, kind, pieces if paused else None, pieces)


def right_answer(slot_id: int, caption_first: bool | None) -> str:
    """What somebody who watches the clip sees, as the page shows it."""
    gold, item = Slot.objects.values_list("task__gold__answer", "item").get(pk=slot_id)
    truth = gold or TRUTHS[item % len(TRUTHS)]
    if truth not in ("caption", "foil"):
        return truth
    return "first" if (truth == "caption") == caption_first else "second"


def crowd(project: Project, numbers: dict[str, int], pieces: int = 40) -> list[Outcome]:
    """So many people of each kind, each with a queue of pieces; what became of each."""
    outcomes, start = [], timezone.now()
    for kind, number in numbers.items():
        people = [User(username=f"{kind} {n} of {project.pk}", is_simulated=True) for n in range(number)]
        User.objects.bulk_create(people)
        Membership.objects.bulk_create(
            Membership(project=project, person=person, role=Role.VALIDATOR) for person in people
        )
        for seed, person in enumerate(people):
            outcomes.append(work(person, project, kind, pieces, seed=seed, start=start))
    return outcomes


def paused_share(outcomes: list[Outcome], kind: str) -> float:
    of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
    return sum(outcome.paused_after is not None for outcome in of_kind) / len(of_kind)


def undecided(project: Project) -> int:
    return Item.objects.filter(subtest__project=project, state="in_validation").count()
