"""Scoring through the real `transformers serve` with a tiny vision-language model of random weights."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from transformers import AutoProcessor, LlavaForConditionalGeneration

from evaluation.metrics.intervals import exact_binomial
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Score, ServedAnswer
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Video
from foilworks.core.hub.served.prompts import CHOOSE, MATCHES, lettered
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.frames import sample_frames
from tests.evaluation.served.served_folder import llava, next_probabilities
from tests.evaluation.served.worlds import make_release
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db, pytest.mark.full, pytest.mark.slow(seconds=60)]
WORDS = (
    'clip is red green blue 0 1 2 Does this video show Answer with yes or no . : ? "? ". " Which sentence describes the'
)
SAMPLES, FRAMES = 30, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return llava(tmp_path_factory.mktemp("models") / "tiny-llava", {*WORDS.split(), "letter", "only"})


@pytest.fixture(scope="module")
def url(folder, tmp_path_factory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder)]
    with log.open("w") as out:
        child = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", "0", "--device", "cpu", "--log-level", "info"],
            env={**os.environ, "TRANSFORMERS_OFFLINE": "1"},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        address = re.compile(r"running on (http://[\d.:]+)")
        found = wait_until(lambda: address.search(log.read_text()), processes=[child], log=log.read_text)
        yield f"{found[1]}/v1"
    finally:
        child.terminate()
        child.wait(30)


def scored(release, url, folder, settings, options):
    settings.CHAT_ENDPOINTS = {"lab": {"url": url, "models": (str(folder),), "in_flight": 4}}
    run = start_run(None, release, RunRequest(f"endpoint:lab?frames={FRAMES}&max_tokens=1&{options}"))
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run


def truth(folder, release):
    """(the model, its processor, {item: (frames, texts)})."""
    model, processor = LlavaForConditionalGeneration.from_pretrained(folder), AutoProcessor.from_pretrained(folder)
    shown = {}
    for record in records_of(release):
        video = Video.objects.get(key=record["video"]["key"])
        frames, *_ = sample_frames(Path(video.file.path), FRAMES)
        shown[record["id"]] = ([Image.fromarray(frame) for frame in frames], [record["caption"], *record["foils"]])
    return model, processor, shown


def test_p_yes_from_samples_is_within_its_own_interval(url, folder, settings):
    release = make_release(3)
    run = scored(release, url, folder, settings, f"mode=p_yes&samples={SAMPLES}")
    # It takes no logprobs, and says so by leaving them out.
    assert run.params["served"]["by"] == "samples"
    model, processor, shown = truth(folder, release)
    for pictures, texts in shown.values():
        for text in texts:
            rows = ServedAnswer.objects.filter(texts=[text_key(text)])
            assert rows.count() == SAMPLES
            n, hits = rows.filter(outcome="answered").count(), rows.filter(answer="yes").count()
            assert n >= SAMPLES // 5, "the others are unparsable and count nowhere"
            value = Score.objects.get(text_sha256=text_key(text)).value
            assert value == pytest.approx(hits / n)
            low, high = exact_binomial(hits, n)
            assert low <= value <= high
            given = next_probabilities(model, processor, pictures, MATCHES.format(text))
            low, high = exact_binomial(hits, n, level=0.9999)
            assert low <= given["Yes"] / (given["Yes"] + given["No"]) <= high


def test_a_choice_is_asked_in_both_orders(url, folder, settings):
    release = make_release(3)
    run = scored(release, url, folder, settings, "mode=pairs")
    model, processor, shown = truth(folder, release)
    firsts = 0
    for pictures, texts in shown.values():
        named = []
        for order in (sorted(texts), sorted(texts)[::-1]):
            given = next_probabilities(model, processor, pictures, CHOOSE.format(lettered(order)))
            assert max(given, key=given.get) in ("A", "B"), "the model answers with a letter"
            firsts += given["A"] > given["B"]
            named.append(order[0] if given["A"] > given["B"] else order[1])
        for text in texts:
            assert Score.objects.get(text_sha256=text_key(text)).value == named.count(text) / 2
    assert ServedAnswer.objects.count() == 6
    assert ServedAnswer.objects.filter(answer="A").count() == firsts
    # This model favours a letter: by one order alone it would look as if it could tell the texts apart.
    assert firsts != 3
    assert set(Score.objects.values_list("value", flat=True)) >= {0.5}
    assert run.problems == {}
