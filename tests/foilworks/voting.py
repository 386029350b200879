"""People who vote while somebody else does something: `python -m tests.foilworks.voting STOP` until that file appears.

It makes the tables, a release, and many items that wait for votes; each vote goes through the real actions.
"""

import os
import sys
import time
from pathlib import Path

ITEMS = 150
RELEASED = 5
# Between two rounds of votes: what there is to vote on lasts twenty times as long as a copy takes.
BREATH_SECONDS = 0.1


class _Nobody:
    """Stands for the migrations of every app: tables are made from the models, which is quicker."""

    def __contains__(self, _app: str) -> bool:
        return True

    def __getitem__(self, _app: str) -> None:
        return None


def make_tables() -> None:
    from django.core.management.commands.migrate import Command
    from django.test.utils import override_settings

    def run(*options: str) -> None:
        command = Command()
        command.run_from_argv(["manage.py", "migrate", "--verbosity", "0", *options])

    with override_settings(MIGRATION_MODULES=_Nobody()):
        run("--run-syncdb")
    run("--fake")


def make_work():
    from django.conf import settings

    from annotation.actions.workflow.make_tasks import make_tasks
    from evaluation.releases.actions.freeze_release import freeze_release
    from foilworks.core.corpus.models import Foil
    from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
    from foilworks.core.media.encode import write_mp4
    from tests import factories
    from tests.annotation.world import make_world
    from tests.media.painted import painted_clip

    world = make_world({"slug": "busy"})
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True)
    write_mp4(folder / "clip.mp4", painted_clip(4), fps=8)

    def item(number: int, **fields):
        video = factories.make_video(world.project, key=f"clip {number}", file="clip.mp4")
        caption = factories.make_caption(video, f"a man folds {number} shirts.")
        return factories.make_item(world.subtest, caption, (f"a man unfolds {number} shirts.",), **fields)

    for number in range(RELEASED):
        item(number, state=ItemState.VALID)
    Foil.objects.update(verdict=FoilVerdict.VALID)
    freeze_release(None, world.project)
    for number in range(RELEASED, RELEASED + ITEMS):
        item(number)
    make_tasks(world.project)
    return world


def vote_until(stop: Path, world) -> int:
    from annotation.actions.claims.claim import claim
    from annotation.actions.submissions.judgements import submit_vote
    from annotation.models import Stage

    done = 0
    while not stop.exists():
        before = done
        for person in (world.vera, world.vic, world.val):
            work = claim(person, world.project, Stage.VALIDATION)
            if work is not None:
                submit_vote(person, work.token, f"key-{done}", 1 + done % 5)
                done += 1
        if done == before:
            break
        time.sleep(BREATH_SECONDS)
    return done


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    from foilworks.site.server.gc_freeze import lasting

    with lasting():
        django.setup()
    make_tables()
    print(vote_until(Path(sys.argv[1]), make_work()))  # noqa: T201
