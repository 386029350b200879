"""Let simulated people write, edit, review, validate and choose. All are marked as simulated.

They use the claims and submissions of the pages. Mistakes are drawn by the seed, the item and its number of votes, at
the rate that the membership states (`simulated_traits`), or that the caller gives for a subtest.

Simulated people of a reproduction: as many as the paper had, marked as simulated everywhere.

They use the claims and submissions of the pages. Mistakes are drawn by seed, exactly at the stated share.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import numpy as np
from django.contrib.auth.hashers import make_password
from django.core.files import File
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.items import retract
from annotation.actions.settings.work_settings import publish_guideline
from annotation.actions.studies import open_baseline
from annotation.actions.submissions.judgements import submit_choice, submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Lease, Stage, Vote
from annotation.queries.cards import Claim
from annotation.rules import reviewing
from annotation.rules.baseline import place_of
from foilworks.core.corpus.models import Item, MediaState, Release, Subtest, Video
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Membership, Project, Role, User
from foilworks.core.text.language.tools import tagger
from foilworks.site.demo.simulated_people import in_turns
from generation.grammar.spans import verb_spans
from generation.models import CandidateGroup

# Nobody takes longer for a task.
SECONDS = 15
# People who do not watch need something that plays: one second of grey.
FPS, SIDE = 4, 32


@dataclass
class Crew:
    """The simulated people of a project by role."""

    project: Project
    seed: int
    people: dict[Role, list[User]] = field(default_factory=dict)

    def join(self, role: Role, n: int, **traits: float) -> list[User]:
        """Add `n` people of the role, whose error rates are stored with their membership."""
        for number in range(1, n + 1):
            fields = {"is_simulated": True, "password": make_password(None)}
            username = f"sim-{role.value}-{number}"
            person, _new = User.objects.get_or_create(username=username, defaults=fields)
            Membership.objects.create(project=self.project, person=person, role=role, simulated_traits=traits)
            self.people.setdefault(role, []).append(person)
        return self.people[role]

    @property
    def owner(self) -> User:
        return self.people[Role.RESEARCHER][0]

    def work(self, role: Role, stage: Stage) -> Iterator[tuple[User, Claim]]:
        """Yield a task at a time to each person of the role in turn, until nobody gets one."""
        waiting = list(self.people[role])
        while waiting:
            for person in tuple(waiting):
                now = timezone.now() - timedelta(seconds=SECONDS)
                claimed = claim(person, self.project, stage, now=now)
                if claimed is None:
                    waiting.remove(person)
                else:
                    yield person, claimed


def key_of(claimed: Claim) -> str:
    return f"simulated-{claimed.lease_id}"


def mistaken(names: Sequence[str], share: float, *seed: object) -> frozenset[str]:
    """Return round(share * n) of the n names, drawn by the seed."""
    pool = sorted(set(names))
    return frozenset(random.Random("/".join(map(str, seed))).sample(pool, round(share * len(pool))))


def give_clips(project: Project, work: Path, keys: Collection[str] | None = None) -> int:
    """Give a grey stand-in to each video without a file (of these keys): people who do not watch need no more.

    Return their number.
    """
    videos = Video.objects.filter(project=project, media_state=MediaState.MISSING).order_by("pk")
    if keys is not None:
        videos = videos.filter(key__in=keys)
    number = 0
    for number, video in enumerate(videos, 1):
        path = work / "clips" / f"{project.slug}-{number}.mp4"
        stand_in_clip(path, number)
        with path.open("rb") as file:
            video.file.save(path.name, File(file), save=False)
        video.media_state, video.duration, video.n_frames = MediaState.READY, 1.0, FPS
        video.save()
    return number


def stand_in_clip(path: Path, number: int) -> None:
    """Write a second of grey that differs by `number`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = np.full((FPS, SIDE, SIDE, 3), number % 200 + 20, np.uint8)
    frames[0, 0, :, 0] = [number >> bit & 1 for bit in range(SIDE)]
    frames[:, :, : 1 + number % (SIDE - 1)] //= 2
    write_mp4(path, frames, FPS)


GUIDELINE = """Change the verb of the sentence, so that the sentence becomes false of the video. Change nothing else.

+ A man opens the door -> A man closes the door
- A man opens the door -> A man is opening the door (still true)
- A man opens the door -> A boy opens the door (not the verb)"""
MISTAKES = "misjudges"
SECONDS_PER_TASK = 12
# Answers of the human baseline (contrast sets, Table 2).
PER_ITEM = 3
ACCOUNTS = {
    "researcher": (Role.RESEARCHER, 1),
    "editor": (Role.ANNOTATOR, 1),
    "reviewer": (Role.REVIEWER, 1),
    # Others than those who write and validate: who has worked on a clip gives no answer of the baseline.
    # Three per set, because nobody answers two versions of one clip.
    "judge": (Role.ANNOTATOR, 6),
}
# For captions in which the editor finds no verb.
NO_VERB = "Nobody does anything."


class Verbs:
    """The verbs of the train captions by form, from which an editor takes another verb."""

    def __init__(self, captions: Iterable[str]) -> None:
        self.tags = tagger("offline")
        words_by_form: dict[str, set[str]] = defaultdict(set)
        for caption in captions:
            for span in verb_spans(self.tags.tag(caption), "verb", "every"):
                words_by_form[span.form].add(span.text.lower())
        self.by_form = {form: sorted(words) for form, words in words_by_form.items()}

    def changed(self, caption: str, seed: str) -> str:
        """Return the caption with another verb in the place of its main verb."""
        spans = verb_spans(self.tags.tag(caption), "verb", "main")
        for span in spans[:1]:
            words = [word for word in self.by_form.get(span.form, ()) if word != span.text.lower()]
            if words:
                word = random.Random(f"{seed}/{caption}").choice(words)
                return caption[: span.start] + word + caption[span.end :]
        return NO_VERB


class People:
    """The simulated people of one project."""

    def __init__(
        self,
        project: Project,
        seed: int,
        mistakes: float,
        validators: int,
        by_subtest: Mapping[str, float] | None = None,
    ) -> None:
        """Enrol everybody. `mistakes`: share of wrong answers; `by_subtest`: other shares for subtests by name."""
        self.project, self.seed, self.mistakes, self.by_subtest = project, seed, mistakes, by_subtest or {}
        roles = {**ACCOUNTS, "validator": (Role.VALIDATOR, validators)}
        self.accounts = {
            name: [self._add_person(f"sim-{name}-{number}", role) for number in range(1, n + 1)]
            for name, (role, n) in roles.items()
        }

    @property
    def owner(self) -> User:
        return self.accounts["researcher"][0]

    def _add_person(self, username: str, role: Role) -> User:
        fields = {"is_simulated": True, "password": make_password(None)}
        person, _new = User.objects.get_or_create(username=username, defaults=fields)
        traits = {MISTAKES: self.mistakes}
        Membership.objects.create(project=self.project, person=person, role=role, simulated_traits=traits)
        return person

    def write_verbs(self, captions: Iterable[str]) -> None:
        """Write a foil for each waiting caption, and review all of them."""
        verbs = Verbs(captions)
        publish_guideline(self.owner, self.project, Stage.EDIT, GUIDELINE)
        (editor,), (reviewer,) = self.accounts["editor"], self.accounts["reviewer"]
        for claimed in self._claims(editor, Stage.EDIT):
            group = CandidateGroup.objects.select_related("caption").get(tasks__pk=claimed.task_id)
            text = verbs.changed(group.caption.text, str(self.seed))
            submit_edit(editor, claimed.token, _key(claimed), [text], [None], seconds=SECONDS_PER_TASK)
        self._accept(reviewer)

    def edit_and_review(self) -> None:
        """Submit the first suggestion of each waiting caption unchanged, and accept all."""
        (editor,), (reviewer,) = self.accounts["editor"], self.accounts["reviewer"]
        for claimed in self._claims(editor, Stage.EDIT):
            group = CandidateGroup.objects.get(tasks__pk=claimed.task_id)
            first = group.candidates.filter(state=CandidateState.EDITING).order_by("rank", "pk").first()
            assert first is not None
            submit_edit(editor, claimed.token, _key(claimed), [first.text], [first.pk], seconds=SECONDS_PER_TASK)
        self._accept(reviewer)

    def _accept(self, reviewer: User) -> None:
        for claimed in self._claims(reviewer, Stage.REVIEW):
            submit_review(
                reviewer, claimed.token, _key(claimed), ReviewAnswer(reviewing.ACCEPT), seconds=SECONDS_PER_TASK
            )

    def validate(self) -> None:
        """Judge every item that waits for votes, in turns; a mistake among several sentences is the hard foil."""
        for _vote in in_turns([self._votes(person) for person in self.accounts["validator"]]):
            pass

    def _votes(self, person: User) -> Iterator[None]:
        for claimed in self._claims(person, Stage.VALIDATION):
            submit_vote(person, claimed.token, _key(claimed), self._place(claimed, "vote"), seconds=SECONDS_PER_TASK)
            yield

    def choose(self, release: Release, subtests: Sequence[Subtest]) -> None:
        """Choose among the sentences of each item, three people per item; a mistake is the hard foil."""
        for n, subtest in enumerate(subtests):
            judges = self.accounts["judge"][n * PER_ITEM : (n + 1) * PER_ITEM]
            open_baseline(self.owner, self.project, release=release, subtest=subtest, overlap=PER_ITEM)
            for person in judges:
                for claimed in self._claims(person, Stage.BASELINE):
                    position = self._place(claimed, "choice")
                    submit_choice(person, claimed.token, _key(claimed), position, seconds=SECONDS_PER_TASK)

    def retract(self, subtest: Subtest, reason: str) -> None:
        """Retract the valid items of a subtest, so that a release does not contain them."""
        for item in Item.objects.filter(subtest=subtest, state="valid").values_list("pk", flat=True):
            retract(self.owner, item, reason)

    def _place(self, claimed: Claim, draw_name: str) -> int | str:
        """Return the number of the sentence that the person calls true; of two sentences, its word."""
        lease = Lease.objects.select_related("task__item__subtest").get(pk=claimed.lease_id)
        item = lease.task.item
        if lease.order_shown is None:
            right = "first" if claimed.caption_first else "second"
            return "both" if self._makes_mistake(item, draw_name) else right
        wrong = item.foils.get(position=item.facts.get("hard_foil") or 0).pk
        return place_of(lease.order_shown, wrong if self._makes_mistake(item, draw_name) else None)

    def _claims(self, person: User, stage: Stage) -> Iterator[Claim]:
        while claimed := claim(person, self.project, stage, now=timezone.now() - timedelta(seconds=SECONDS_PER_TASK)):
            yield claimed

    def _makes_mistake(self, item: Item, what: object) -> bool:
        # By the number of votes that the item has: which of many people gets a task is not drawn by our seed.
        nth = Vote.objects.filter(item=item).count()
        name = f"{self.seed}/{nth}/{item.subtest.name}/{item.key}/{what}"
        return random.Random(name).random() < self.by_subtest.get(item.subtest.name, self.mistakes)


def _key(claimed: Claim) -> str:
    return f"simulated-{claimed.lease_id}"
