"""Models in programs of their own: the example of the docs runs; kills, silence and nonsense are one message each."""

import json
import os
from pathlib import Path

import numpy as np
import psutil
import pytest

from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import ScoringCounts, score_pairs
from foilworks.core.hub.adapters import _subprocess_lines
from foilworks.core.hub.adapters.external import ExternalEmbedder
from foilworks.core.hub.errors import ClipError, HubError
from foilworks.core.hub.interfaces import Embedder, Scorer, TextRead, VideoMeta
from foilworks.core.hub.opening import open_adapter
from tests.waiting import PATIENCE_SECONDS, wait_until

EXAMPLE = Path(__file__).parents[2] / "docs/examples/external_model"
META = VideoMeta("clip", (0.0, 1.0, 2.0, 3.0), "/videos/a.mp4")
TEXTS = ["a bright day", "a dark night", "a thing"]
FIRST = {
    "protocol": 1,
    "model_id": "m",
    "revision": "1",
    "interface": "scorer",
    "kind": "logit",
    "frames": 4,
    "size": None,
}


@pytest.fixture(autouse=True)
def much_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, a program that ends has ended by then."""
    monkeypatch.setattr(_subprocess_lines, "GRACE_S", PATIENCE_SECONDS)


def clip(grey: int) -> np.ndarray:
    return np.full((4, 8, 8, 3), grey, np.uint8)


def program(folder: Path, body: str, first: object = None, **manifest: object) -> str:
    """A program that writes down its `pid`, says `first`, then runs `body` with each question as `q`; `say` answers."""
    said = json.dumps(FIRST if first is None else first)
    code = (
        "import json, os, sys, time\n"
        "def say(**x): print(json.dumps(x), flush=True)\n"
        "with open('pid', 'w') as file: file.write(str(os.getpid()))\n"
        f"print({said!r}, flush=True)\n"
        "for line in sys.stdin:\n    q = json.loads(line)\n" + "".join(f"    {part}\n" for part in body.splitlines())
    )
    folder.mkdir(exist_ok=True)
    (folder / "serve.py").write_text(code)
    (folder / "foilworks.json").write_text(
        json.dumps({"command": ["{python}", "serve.py"], "timeout_s": 20, **manifest})
    )
    return f"external:{folder}"


def test_the_example_of_the_docs_scores() -> None:
    adapter = open_adapter(f"external:{EXAMPLE}", device="cpu")
    assert isinstance(adapter, Scorer)
    assert (adapter.info.model_id, adapter.info.frames, adapter.info.kind) == ("example/brightness", 4, "logit")
    # Grey 255 is brightness 1, grey 0 is -1; "bright" and "day" count 2, "dark" and "night" -2.
    assert [score.value for score in adapter.score(clip(255), TEXTS, meta=META)] == pytest.approx([2, -2, 0])
    assert [score.value for score in adapter.score(clip(0), TEXTS, meta=META)] == pytest.approx([-2, 2, 0])


def test_an_embedder_encodes_clips_and_texts_independently(tmp_path: Path) -> None:
    body = (
        "if q['op'] == 'encode_text': say(id=q['id'], vectors=[[len(t), 1] for t in q['texts']])\n"
        "else: say(id=q['id'], vector=[3, 4])"
    )
    first = {**FIRST, "interface": "embedder", "kind": "cosine"}
    adapter = open_adapter(program(tmp_path / "m", body, first), device="cpu")
    assert isinstance(adapter, Embedder)
    assert isinstance(adapter, ExternalEmbedder)
    rows, texts = adapter.encode_video([clip(1), clip(2)], [META, META]), adapter.encode_text(["a", "abc"])
    # (3, 4) with (1, 1) and (3, 1): 7 / (5 sqrt 2), 13 / (5 sqrt 10).
    wanted = [7 / (5 * 2**0.5), 13 / (5 * 10**0.5)]
    np.testing.assert_allclose(adapter.score(rows, texts), [wanted, wanted], atol=1e-6)


def test_a_program_reports_the_texts_that_it_cuts(tmp_path: Path) -> None:
    body = (
        "long = [(n, t.split()) for n, t in enumerate(q['texts'])]\n"
        "say(id=q['id'], texts=[dict(place=n, tokens=len(w), limit=2, kept=' '.join(w[:2])) for n, w in long if w[1:]])"
    )
    adapter = open_adapter(program(tmp_path / "m", body, {**FIRST, "text_limit": True}), device="cpu")
    texts = ["a", "a dog", "a dog runs", "a dog"]
    assert adapter.at_limit(texts) == {"a dog": TextRead(2, 2, "a dog"), "a dog runs": TextRead(3, 2, "a dog")}
    wrong = program(tmp_path / "n", "say(id=q['id'], texts=[{'place': 7}])", {**FIRST, "text_limit": True})
    with pytest.raises(HubError, match=r"n: 'texts' of its answer to at_limit has \{'place': 7\}; give place, tokens"):
        open_adapter(wrong, device="cpu").at_limit(texts)
    assert open_adapter(program(tmp_path / "o", body), device="cpu").at_limit(texts) is None


def test_vectors_of_two_lengths_give_one_message(tmp_path: Path) -> None:
    body = (
        "if q['op'] == 'encode_text': say(id=q['id'], vectors=[[len(t)] for t in q['texts']])\n"
        "else: say(id=q['id'], vector=[3, 4])"
    )
    adapter = open_adapter(program(tmp_path / "m", body, {**FIRST, "interface": "embedder"}), device="cpu")
    rows, texts = adapter.encode_video([clip(1)], [META]), adapter.encode_text(["a", "abc"])
    with pytest.raises(HubError, match="m: its vector of a clip has 2 numbers, of a text 1; give one length"):
        adapter.score(rows, texts)


def test_a_program_gets_the_file_and_the_times_and_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    body = "open('seen.json', 'w').write(json.dumps([q, dict(os.environ)]))\nsay(id=q['id'], scores=[0.5])"
    adapter = open_adapter(program(tmp_path / "m", body, environment={"SIZE": "large"}), device="cuda:3")
    adapter.score(clip(7), ["x"], "some mode", META)
    question, environment = json.loads((tmp_path / "m/seen.json").read_text())
    assert question["video"]["path"] == "/videos/a.mp4"
    assert question["video"]["times"] == [0, 1, 2, 3]
    assert question["mode"] == "some mode"
    assert environment["FOILWORKS_DEVICE"] == "cuda:3"
    assert environment["SIZE"] == "large"
    assert "DATABASE_URL" not in environment


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("say(id=q['id'], error='no face in it')", r"m: clip 'clip': no face in it"),
        ("sys.exit('out of memory')", r"m: its process ended with exit status 1; its last words: out of memory"),
        ("os.kill(os.getpid(), 9)", r"m: its process was killed \(SIGKILL\)"),
        ("print('Loading weights ...', flush=True)", r"m: it wrote 'Loading weights ...', which is not a JSON line"),
        ("print('[1]', flush=True)", r"m: it wrote \[1\], which is not a JSON object"),
        ("say(id=99, scores=[1])", r"m: it answered question 99 where \d+ was asked"),
        ("say(id=q['id'], scores=[1, 2])", r"m: its answer holds no 'scores' of 1 numbers"),
        ("say(id=q['id'], scores='high')", r"m: its answer holds no 'scores' of 1 numbers"),
        ("os.close(1)\n    time.sleep(60)", r"m: it closed its output"),
    ],
)
def test_a_failing_clip_gives_one_message_and_the_next_is_scored(
    tmp_path: Path, body: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "closed" in said:
        monkeypatch.setattr(_subprocess_lines, "GRACE_S", 0.2)
    condition = f"if q['texts'] == ['bad']:\n    {body}\nelse: say(id=q['id'], scores=[1.5])"
    adapter = open_adapter(program(tmp_path / "m", condition), device="cpu")
    assert adapter.score(clip(0), ["good"], meta=META)[0].value == 1.5
    with pytest.raises(ClipError, match=said):
        adapter.score(clip(0), ["bad"], meta=META)
    assert adapter.score(clip(0), ["good"], meta=META)[0].value == 1.5


def test_a_silent_program_is_ended(tmp_path: Path) -> None:
    adapter = open_adapter(program(tmp_path / "m", "time.sleep(60)", timeout_s=0.3), device="cpu")
    with pytest.raises(ClipError, match=r"m: it did not answer within 0.3 s; give it more time \(timeout_s\)"):
        adapter.score(clip(0), ["x"], meta=META)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "m/pid").read_text()), 0)


def test_a_program_that_always_fails_stops_the_run(tmp_path: Path) -> None:
    adapter = open_adapter(program(tmp_path / "m", "sys.exit(3)"), device="cpu")
    for key in ("a", "b"):
        with pytest.raises(ClipError):
            adapter.score(clip(0), ["x"], meta=VideoMeta(key))
    with pytest.raises(HubError, match=r"exit status 3; fix the program, then start the run again") as caught:
        adapter.score(clip(0), ["x"], meta=VideoMeta("c"))
    assert not isinstance(caught.value, ClipError)


def test_two_failing_clips_of_a_batch_do_not_stop_the_run(tmp_path: Path) -> None:
    """The batch fails on the first of them; then each is asked about alone: three failures of two clips."""
    body = (
        "if q['op'] == 'encode_text': say(id=q['id'], vectors=[[1, 2] for t in q['texts']])\n"
        "elif q['video']['key'].startswith('bad'): sys.exit(3)\n"
        "else: say(id=q['id'], vector=[3, 4])"
    )
    adapter = open_adapter(program(tmp_path / "m", body, {**FIRST, "interface": "embedder"}), device="cpu")
    tally = ScoringCounts()
    requests = [(Clip(key), ["x"]) for key in ("bad 1", "bad 2", "good")]
    found = list(score_pairs(adapter, requests, tally=tally, read=lambda one, _: (clip(0), VideoMeta(one.key))))
    assert [(score.clip_key, score.value) for score in found] == [("good", 11)]
    assert [key for key, _ in tally.refused] == ["bad 1", "bad 2"]


def test_an_answer_with_an_error_does_not_end_the_program(tmp_path: Path) -> None:
    body = "if q['video']['key'] == 'dull': say(id=q['id'], error='too dull')\nelse: sys.exit(3)"
    adapter = open_adapter(program(tmp_path / "m", body), device="cpu")
    for key in ("a", "b", "dull", "c", "d"):
        with pytest.raises(ClipError):
            adapter.score(clip(0), ["x"], meta=VideoMeta(key))


def test_null_scores_become_nan(tmp_path: Path) -> None:
    adapter = open_adapter(program(tmp_path / "m", "say(id=q['id'], scores=[None, 1])"), device="cpu")
    first, second = (score.value for score in adapter.score(clip(0), ["x", "y"], meta=META))
    assert np.isnan(first)
    assert second == 1


def test_the_program_ends_with_its_adapter(tmp_path: Path) -> None:
    adapter = open_adapter(program(tmp_path / "m", "say(id=q['id'], scores=[1])"), device="cpu")
    adapter.score(clip(0), ["x"], meta=META)
    pid = int((tmp_path / "m/pid").read_text())
    os.kill(pid, 0)
    del adapter
    wait_until(lambda: not psutil.pid_exists(pid))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protocol": 2}, "says protocol: 2; write 1"),
        ({"model_id": ""}, "says model_id: ''; write a text"),
        ({"interface": "oracle"}, "says interface: 'oracle'; write embedder or scorer"),
        ({"kind": "vibes"}, "says kind: 'vibes'; write cosine, logit"),
        ({"frames": -1}, "says frames: -1; write a whole number"),
        ({"size": [8]}, r"says size: \[8\]; write \[height, width\] or null"),
        ({"error": "no GPU"}, "m: no GPU"),
    ],
)
def test_the_first_line_of_a_program_is_checked(tmp_path: Path, change: dict, said: str) -> None:
    with pytest.raises(HubError, match=said):
        open_adapter(program(tmp_path / "m", "pass", {**FIRST, **change}), device="cpu")


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (None, r"foilworks.json: missing; an external model is a folder with this file"),
        ("{", r"foilworks.json: not readable as JSON"),
        (
            '{"comand": []}',
            r"foilworks.json: comand: unknown; it takes command, environment, start_timeout_s, timeout_s",
        ),
        ('{"command": "python x.py"}', r'foilworks.json: command: not a list of texts; write \["python", "serve.py"\]'),
        ('{"command": ["x"], "environment": {"A": 1}}', r"foilworks.json: environment: not names with texts"),
        ('{"command": ["x"], "timeout_s": -1}', r"foilworks.json: timeout_s: -1 is not a number of seconds"),
        ('{"command": ["/no/such/program"]}', r"m: '/no/such/program' cannot be started \(No such file or directory\)"),
    ],
)
def test_an_invalid_manifest_is_refused(tmp_path: Path, manifest: str | None, said: str) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    if manifest is not None:
        (folder / "foilworks.json").write_text(manifest)
    with pytest.raises(HubError, match=said):
        open_adapter(f"external:{folder}", device="cpu")
    with pytest.raises(HubError, match="'external:' names no folder"):
        open_adapter("external:", device="cpu")


def test_the_error_quotes_a_program_that_ends_at_its_start(tmp_path: Path) -> None:
    spec = program(tmp_path / "m", "pass")
    (tmp_path / "m/serve.py").write_text("import no_such_package")
    with pytest.raises(HubError, match=r"exit status 1; its last words: ModuleNotFoundError: No module named"):
        open_adapter(spec, device="cpu")
