"""Simulated people of a reproduction: as many as the paper had, marked as simulated everywhere.

They use the claims and submissions of the pages. Mistakes are drawn by seed, exactly at the stated share.
"""

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import numpy as np
from django.contrib.auth.hashers import make_password
from django.core.files import File
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.models import Stage
from annotation.queries.cards import Claim
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Membership, Project, Role, User

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
