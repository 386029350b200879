"""Nothing but the clip and the words says which text is the caption, and which piece is gold."""

import secrets
from random import Random

import pytest

from tests.attacks import cheater

pytestmark = pytest.mark.django_db


def play(people: int, pieces: int, patch: pytest.MonkeyPatch) -> list[list[cheater.Piece]]:
    """So many cheaters, each in a project of their own; the same in every run."""
    random = Random(7)
    patch.setattr(secrets, "choice", random.choice)
    patch.setattr(secrets, "token_urlsafe", lambda size=32: cheater.token(random, size))
    cheater.number_rows_from(100_000)
    return [cheater.judge(*cheater.build(seed, pieces), pieces) for seed in range(people)]


def test_play(monkeypatch):
    people = play(4, 40, monkeypatch)
    print(cheater.guess_caption(people), cheater.guess_caption(people).interval)
    print(cheater.guess_gold(people), cheater.guess_gold(people).interval)
    import collections

    for name in sorted({n for p in people for q in p for n in q.known}):
        g = [q.known.get(name) for p in people for q in p if q.is_gold]
        w = [q.known.get(name) for p in people for q in p if not q.is_gold]
        cg, cw = collections.Counter(g), collections.Counter(w)
        if len(set(g) | set(w)) < 12 and len(set(g) | set(w)) > 1:
            print(name, dict(cg), dict(cw))
