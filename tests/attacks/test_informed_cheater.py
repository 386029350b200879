"""Nothing but the clip and the words says which text is the caption, and which piece is gold."""

import logging
import secrets
from random import Random

import pytest
from django.conf import settings

from foilworks.core.corpus.video_files.player import blind_clip
from foilworks.core.corpus.video_files.streaming import stream_file
from tests.attacks import cheater
from tests.attacks.guards import Guard, guarded_by, replaced

pytestmark = pytest.mark.django_db


def play(people: int, pieces: int, patch: pytest.MonkeyPatch) -> list[list[cheater.Piece]]:
    """So many cheaters, each in a project of their own; the same in every run."""
    random = Random(7)
    patch.setattr(settings, "SECRET_KEY", "of the cheaters' installation")
    patch.setattr(secrets, "choice", random.choice)
    patch.setattr(secrets, "token_urlsafe", lambda size=32: cheater.token(random, size))
    cheater.number_rows_from(100_000)
    return [cheater.judge(*cheater.build(seed, pieces), pieces) for seed in range(people)]


ORDER = replaced(
    "annotation.actions.leases.leasing.order_seed",
    "the order of two texts derives from a secret of the installation",
    lambda project: project,
)
LABEL = replaced(
    "annotation.views._work_pages.blind_clip",
    "a task's page does not name its clip",
    lambda video, *piece: {**blind_clip(video, *piece), "label": video.key},
)


def _plain_tokens(patch: pytest.MonkeyPatch) -> None:
    for place in ("foilworks.core.corpus.video_files.player.clip_token", "foilworks.site.api.cards.clip_token"):
        patch.setattr(place, lambda video, *piece: str(video))
    patch.setattr("foilworks.core.corpus.access.read_clip_token", lambda token, person: int(token))


TOKEN = Guard(
    "foilworks.core.corpus.video_files.player.clip_token",
    "the address of a clip reveals nothing about the clip",
    _plain_tokens,
)
HEADERS = replaced(
    "foilworks.core.corpus.video_files.streaming._stream_blind",
    "no header of a clip reveals the date of its file",
    lambda request, stored: stream_file(request, stored),
)
NUMBER = replaced(
    "annotation.queries.queues.with_gold",
    "a queue's count decreases with every task, gold or not",
    lambda person, project, real: real,
)
QUOTA = replaced(
    "annotation.actions.ledger.public_stage",
    "the progress of a quota rises with every task, gold or not",
    lambda stage: stage,
)


def is_chance(tried: cheater.Tried) -> bool:
    return tried.interval[0] <= tried.chance <= tried.interval[1]


# With fewer pieces the cheater may learn too little without the guard, too.
@pytest.mark.full
@guarded_by(ORDER)
def test_which_text_is_the_caption_cannot_be_computed(monkeypatch):
    tried = cheater.guess_caption(play(4, 60, monkeypatch))
    assert is_chance(tried), tried


@pytest.mark.full
@guarded_by(LABEL, TOKEN, HEADERS, NUMBER, QUOTA)
def test_gold_tasks_cannot_be_computed(monkeypatch):
    tried = cheater.guess_gold(play(6, 60, monkeypatch))
    assert is_chance(tried), tried


@pytest.mark.full
def test_twenty_cheaters_of_three_hundred_judgements_do_no_better_than_chance(monkeypatch):
    people = play(20, 300, monkeypatch)
    assert sum(map(len, people)) > 5_900
    for name, tried in (("caption", cheater.guess_caption(people)), ("gold", cheater.guess_gold(people))):
        logging.getLogger(__name__).info("%s: %s, interval %s", name, tried, tried.interval)
        assert is_chance(tried), (name, tried, tried.interval)
