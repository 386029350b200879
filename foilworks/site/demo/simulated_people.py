"""Let the simulated people work. They use the real claims and submits, and err at their stated rates."""

import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Choice, Stage, Task
from annotation.queries.cards import Claim
from annotation.rules import reviewing
from foilworks.core.corpus.models import Caption, Subtest
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import Project, Role, User
from foilworks.site.demo.captions import careless, is_true
from foilworks.site.demo.cast import PLAYERS, Player, drawn
from generation.models import Candidate, CandidateGroup

# Nobody takes longer for a task.
MAX_SECONDS = 18
STILL_TRUE = "This is still true of the video; change what happens."
# Wrong answers of a validator, with their frequencies.
MISTAKES = {
    Choice.CAPTION: {Choice.BOTH: 4, Choice.FOIL: 3, Choice.CANNOT_TELL: 2, Choice.NEITHER: 1},
    Choice.BOTH: {Choice.CAPTION: 6, Choice.CANNOT_TELL: 2, Choice.FOIL: 1, Choice.NEITHER: 1},
}


@dataclass
class Crew:
    """All simulated people.

    `people` by username; `scenes` are the sources of the clips that errors are drawn from.
    """

    project: Project
    people: dict[str, User]
    scenes: Sequence[str]
    seed: int
    _slips: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def players(self, role: Role) -> list[tuple[Player, User]]:
        return [(player, self.people[player.username]) for player in PLAYERS if player.role == role]

    def slips(self, player: Player, trait: str, scenes: Sequence[str] | None = None, *, shared: bool) -> frozenset[str]:
        """Return the scenes (of all, or of `scenes`) where the player errs; `shared` with all players of the role."""
        seed_name = player.role.value if shared else player.username
        if (seed_name, trait) not in self._slips:
            pool = self.scenes if scenes is None else scenes
            self._slips[seed_name, trait] = drawn(pool, player.traits[trait], self.seed, seed_name, trait)
        return self._slips[seed_name, trait]

    def left_true(self, subtest: Subtest) -> frozenset[str]:
        """Return the scenes for which annotators submit a text that is still true."""
        player, _ = self.players(Role.ANNOTATOR)[0]
        return self.slips(player, _trait("leaves_a_true_text", subtest), shared=True)

    def sent_back(self, subtest: Subtest) -> frozenset[str]:
        """Return the scenes of `left_true` that reviewers notice."""
        true_scenes = self.left_true(subtest)
        player, _ = self.players(Role.REVIEWER)[0]
        return true_scenes - self.slips(
            player, _trait("overlooks_a_true_text", subtest), tuple(true_scenes), shared=True
        )


def in_turns(acts: Iterable[Iterator[None]]) -> Iterator[None]:
    """Run one act of each in rotation, until all have ended."""
    waiting = deque(acts)
    while waiting:
        act = waiting.popleft()
        for _ in act:
            yield
            waiting.append(act)
            break


def edit_and_review(crew: Crew) -> Iterator[None]:
    """Let annotators and reviewers take turns until no task remains: rejected foils return. Yields at each act."""
    has_acted = True
    while has_acted:
        has_acted = False
        for role, work in ((Role.ANNOTATOR, edits), (Role.REVIEWER, reviews)):
            for _ in in_turns([work(crew, player, person) for player, person in crew.players(role)]):
                has_acted = True
                yield


def validate(crew: Crew) -> Iterator[None]:
    """Let every validator judge everything they may."""
    yield from in_turns([votes(crew, player, person) for player, person in crew.players(Role.VALIDATOR)])


def edits(crew: Crew, player: Player, person: User, limit: int | None = None) -> Iterator[None]:
    """Claim up to `limit` tasks as an annotator and submit a foil for each."""
    for claimed in _claims(crew, person, Stage.EDIT, limit):
        group = CandidateGroup.objects.select_related("caption__video", "run__subtest").get(tasks__pk=claimed.task_id)
        in_hand = group.candidates.filter(state=CandidateState.EDITING).order_by("rank", "pk").first()
        assert in_hand is not None
        text = _submitted_text(crew, group, in_hand)
        submit_edit(person, claimed.token, _key(claimed), [text], [in_hand.pk], **_evidence(crew, player, claimed))
        yield


def _submitted_text(crew: Crew, group: CandidateGroup, in_hand: Candidate) -> str:
    """Return the suggestion unchanged; carelessly reworded, so that it is still true; or corrected, if it came back."""
    caption = group.caption
    if is_true(in_hand.text, caption.text):
        suggested = group.candidates.filter(author=None).order_by("rank", "pk").first()
        assert suggested is not None
        return suggested.text
    errs = caption.video.source_id in crew.left_true(group.run.subtest)
    return careless(caption.text) if errs else in_hand.text


def reviews(crew: Crew, player: Player, person: User, limit: int | None = None) -> Iterator[None]:
    """Accept foils that are false of the video and send true ones back, unless the reviewer overlooks it."""
    for claimed in _claims(crew, person, Stage.REVIEW, limit):
        candidate = Candidate.objects.select_related("group__caption__video", "group__run__subtest").get(
            tasks__pk=claimed.task_id
        )
        group, evidence = candidate.group, _evidence(crew, player, claimed)
        noticed = group.caption.video.source_id in crew.sent_back(group.run.subtest)
        if noticed and is_true(candidate.text, group.caption.text):
            submit_review(
                person,
                claimed.token,
                _key(claimed),
                ReviewAnswer(reviewing.SEND_BACK, reasons=["still_true"], comment=STILL_TRUE),
                **evidence,
            )
        else:
            submit_review(person, claimed.token, _key(claimed), ReviewAnswer(reviewing.ACCEPT), **evidence)
        yield


def votes(crew: Crew, player: Player, person: User, limit: int | None = None) -> Iterator[None]:
    """Choose the texts that are true of the video, or the validator's mistake."""
    for claimed in _claims(crew, person, Stage.VALIDATION, limit):
        task = Task.objects.select_related("item__caption__video", "item__subtest", "foil").get(pk=claimed.task_id)
        assert task.item is not None
        assert task.foil is not None
        choice = _judgement(crew, player, task.item.caption, task.foil.text, task.item.subtest)
        submit_vote(person, claimed.token, _key(claimed), _answer(choice, claimed), **_evidence(crew, player, claimed))
        yield


def _judgement(crew: Crew, player: Player, caption: Caption, foil: str, subtest: Subtest) -> Choice:
    right = Choice.BOTH if is_true(foil, caption.text) else Choice.CAPTION
    source = caption.video.source_id
    trait = _trait("misjudges", subtest)
    # Any validator may get either clip's object check, so their mistakes there are one set.
    shared = subtest.kind == Subtest.Kind.PROFICIENCY
    if source not in crew.slips(player, trait, shared=shared):
        return right
    mistakes = MISTAKES[right]
    chance = random.Random(f"{crew.seed}/{'shared' if shared else player.username}/{trait}/{source}")
    return chance.choices(list(mistakes), list(mistakes.values()))[0]


def _answer(choice: Choice, claimed: Claim) -> str:
    """Return the choice as the page shows it: the texts are in the order of the claim."""
    if choice in (Choice.CAPTION, Choice.FOIL):
        return "first" if (choice == Choice.CAPTION) == claimed.caption_first else "second"
    return choice.value


def _claims(crew: Crew, person: User, stage: Stage, limit: int | None) -> Iterator[Claim]:
    n_claims = 0
    while (limit is None or n_claims < limit) and (claimed := _claim(crew, person, stage)) is not None:
        n_claims += 1
        yield claimed


def _claim(crew: Crew, person: User, stage: Stage) -> Claim | None:
    """Claim the next task, dated so far back that nobody's time is capped at the time since the claim."""
    return claim(person, crew.project, stage, now=timezone.now() - timedelta(seconds=MAX_SECONDS))


def _trait(name: str, subtest: Subtest) -> str:
    return f"{name}_objects" if subtest.kind == Subtest.Kind.PROFICIENCY else name


def _key(claimed: Claim) -> str:
    return f"simulated-{claimed.lease_id}"


def _evidence(crew: Crew, player: Player, claimed: Claim) -> dict[str, Any]:
    """Return plausible time and watching data, drawn by the seed; the person marks it as simulated."""
    chance = random.Random(f"{crew.seed}/{player.username}/{claimed.stage}/{claimed.slot_id}")
    seconds, loops = round(chance.uniform(4, MAX_SECONDS), 1), chance.randint(1, 4)
    covered = 1.0 if loops > 1 else round(chance.uniform(0.7, 1.0), 2)
    return {"seconds": seconds, "watch": {"seconds": 2.0 * loops, "loops": loops, "covered": covered}}
