"""What two hosts share a run of: `python -m tests.foilworks.hosts FOLDER` makes it and prints the number of its job."""

import json
import os
import sys
from pathlib import Path

CLIPS = 24
SERVE = """
import hashlib, json, os, sys, time

def value(key, text):
    return int(hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:6], 16) / 2**24

def say(said):
    print(json.dumps(said), flush=True)

if __name__ == "__main__":
    say({"protocol": 1, "model_id": "slow", "revision": "1", "interface": "scorer", "kind": "logit", "frames": 2,
         "size": None})
    for number, line in enumerate(sys.stdin):
        asked = json.loads(line)
        key = asked["video"]["key"]
        log = os.open("asked", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        # HOME is all that a program is told of its host.
        os.write(log, (json.dumps([os.environ["HOME"], key]) + "\\n").encode())
        os.close(log)
        # Until both hosts are at work: one that starts late would find little left. The first host is killed at its
        # second clip, which waits for that.
        while not os.path.exists("go") or (number == 1 and os.environ["HOME"].endswith("first")):
            time.sleep(0.05)
        time.sleep(0.4)
        say({"id": asked["id"], "scores": [value(key, text) for text in asked["texts"]]})
"""


def make(model: str) -> str:
    """A release of 24 clips and a run of the program in `model`, queued; the id of its job."""
    from django.conf import settings
    from django.core.management import call_command

    from evaluation.releases.actions.freeze_release import freeze_release
    from evaluation.scoring.actions.start_run import start_run
    from evaluation.scoring.run_request import RunRequest
    from foilworks.core.corpus.models import Foil
    from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
    from foilworks.core.media.encode import write_mp4
    from tests import factories
    from tests.media.painted import painted_clip

    folder = Path(model)
    folder.mkdir()
    (folder / "serve.py").write_text(SERVE)
    (folder / "foilworks.json").write_text(json.dumps({"command": ["{python}", "serve.py"]}))
    call_command("migrate", verbosity=0)
    Path(settings.MEDIA_ROOT).mkdir(parents=True)
    write_mp4(Path(settings.MEDIA_ROOT) / "clip.mp4", painted_clip(4), fps=8)
    project = factories.make_project(slug="shared")
    subtest = factories.make_subtest(project, name="s")
    for number in range(CLIPS):
        video = factories.make_video(project, key=f"c{number}", file="clip.mp4", sha256=f"{number:064d}")
        caption = factories.make_caption(video, f"ball {number} rises")
        factories.make_item(subtest, caption, (f"ball {number} falls",), state=ItemState.VALID)
    Foil.objects.update(verdict=FoilVerdict.VALID)
    run = start_run(None, freeze_release(None, project), RunRequest(f"external:{folder}", device="cpu"))
    return str(run.job.pk)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    django.setup()
    print(make(sys.argv[1]))  # noqa: T201
