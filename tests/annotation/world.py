"""A small project with named people who act through the real actions: what a test says is what happens."""

import itertools
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submission import Submission
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Edit, Review, Stage, Vote
from annotation.queries.cards import Claim
from foilworks.core.corpus.models import Caption, Item, Subtest
from foilworks.core.projects.models import Project, Role, User
from generation.models import CandidateGroup, GenerationRun
from tests import factories

CAPTION = "a man folds a shirt."
_keys = itertools.count(1)


def new_key() -> str:
    return f"key-{next(_keys)}"


@dataclass
class World:
    """People: ann and abe annotate, rita and rob review, vera, vic and val validate, owner researches."""

    project: Project
    subtest: Subtest
    run: GenerationRun
    people: dict[str, User] = field(default_factory=dict)

    def __getattr__(self, name: str) -> User:
        try:
            return self.__dict__["people"][name]
        except KeyError as error:
            raise AttributeError(name) from error

    def group(self, *texts: str, caption: Caption | None = None) -> CandidateGroup:
        """A group with a queued suggestion for each text."""
        group = factories.make_group(self.run, caption)
        for rank, text in enumerate(texts or ("a man unfolds a shirt.",)):
            factories.make_candidate(group, text, rank=rank)
        return group

    def claim(self, name: str, stage: str, **also) -> Claim | None:
        return claim(getattr(self, name), self.project, stage, **also)

    def edit(self, name: str, *texts: str, parents=(), key: str = "", now=None, **also) -> Edit:
        """Claim the next edit and submit the texts; by default one text that rewords nothing away."""
        person = getattr(self, name)
        work = claim(person, self.project, Stage.EDIT, now=opened(now, also))
        texts = texts or ("a man unfolds a shirt.",)
        return submit_edit(person, work.token, key or new_key(), texts, parents, now=now, **also)

    def review(self, name: str, decision: str = "accept", key: str = "", now=None, **also) -> Review:
        person = getattr(self, name)
        work = claim(person, self.project, Stage.REVIEW, now=opened(now, also))
        texts = {name: also.pop(name) for name in ("reasons", "comment", "fixed_text") if name in also}
        return submit_review(person, work.token, key or new_key(), ReviewAnswer(decision, **texts), now=now, **also)

    def vote(self, name: str, choice: str = "caption", key: str = "", now=None, **also) -> Vote:
        """Claim the next judgement and answer so that the truth-coded choice is `choice`."""
        person = getattr(self, name)
        work = claim(person, self.project, Stage.VALIDATION, now=opened(now, also))
        return submit_vote(person, work.token, key or new_key(), shown_as(choice, work), now=now, **also)

    def item(self, *foils: str, **fields) -> Item:
        """An imported item that waits for votes."""
        return factories.make_item(self.subtest, foils=foils or ("a man unfolds a shirt.",), **fields)

    def made_item(self) -> Item:
        """One group's way to an item: edited by ann, accepted by rita."""
        group = self.group()
        self.edit("ann")
        self.review("rita")
        group.refresh_from_db()
        return group.item


def sending(person: User, token: str, key: str, slug: str = "") -> Submission:
    """What is sent now with an answer."""
    return Submission(person, token, key, timezone.now(), slug=slug)


def shown_as(choice: str, work: Claim) -> str:
    """The answer, as shown under this claim, that means `choice`."""
    if choice not in ("caption", "foil"):
        return choice
    return "first" if (choice == "caption") == work.caption_first else "second"


def opened(now: datetime | None, sent: dict) -> datetime | None:
    """When a piece was claimed that is sent `now`: so long before as its `seconds` say."""
    return (now or timezone.now()) - timedelta(seconds=sent["seconds"]) if "seconds" in sent else now


def later(**delta) -> object:
    return timezone.now() + timedelta(**delta)


ROLES = {
    "ann": Role.ANNOTATOR,
    "abe": Role.ANNOTATOR,
    "rita": Role.REVIEWER,
    "rob": Role.REVIEWER,
    "vera": Role.VALIDATOR,
    "vic": Role.VALIDATOR,
    "val": Role.VALIDATOR,
    "owner": Role.RESEARCHER,
}


def make_world(project_fields: dict | None = None, **subtest_fields) -> World:
    project = factories.make_project(**(project_fields or {}))
    subtest = factories.make_subtest(project, **subtest_fields)
    people = {name: factories.make_member(project, role, name=f"{name}-{project.pk}") for name, role in ROLES.items()}
    return World(project, subtest, factories.make_run(subtest), people)


def browser(person: User) -> Client:
    """A browser in which the person is signed in."""
    client = Client()
    client.force_login(person)
    return client


def url(world: World, name: str, *args: object) -> str:
    return reverse(f"annotation:{name}", args=[world.project.slug, *args])


def judged(world: World, *choices: str, item: Item | None = None) -> Item:
    """An item with the votes of vera, vic and val."""
    item = item or world.item()
    for name, choice in zip(("vera", "vic", "val"), choices, strict=True):
        world.vote(name, choice)
    item.refresh_from_db()
    return item
