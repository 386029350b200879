"""The page that makes ViLMA's subtests from their sources: its commands, run in their order on tiny files of the same
form, with fake models in place of the weights."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.media.encode import write_mp4
from foilworks.site import cli
from generation.models import Candidate
from scripts.doc_pages import DOCS, command_lines, split

TEXT = (DOCS / "how-to" / "vilma-from-sources.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.django_db(transaction=True)
FILTERS = (
    "nli.model=fake-classifier:",
    "grammaticality.cola=fake-classifier:cola",
    "grammaticality.lm=fake-mask:",
    "grammaticality.min=0",
)
# Recipe -> fake models in place of the weights that it names.
FAKES = {
    "vilma-action-replacement": ("model=fake-mask:", *FILTERS),
    "vilma-spatial": ("model=fake-t5:", *FILTERS),
    "vilma-rare-verb": ("model=fake-t5:", *FILTERS),
    "vilma-rare-object": ("model=fake-mask:", "detector=fake-detector:"),
}
SUBTESTS = {
    *("counting-easy", "counting-difficult", "action-replacement", "actor-swapping", "spatial", "rare-verb"),
    *("rare-noun", "state-action", "state-pre", "state-post", "state-reverse"),
}
LABELS = [
    ("putting a cup into a box", "Putting [something] into [something]", ["a cup", "a box"]),
    ("taking a pen out of a bag", "Taking [something] out of [something]", ["a pen", "a bag"]),
    ("putting a book onto a shelf", "Putting [something] onto [something]", ["a book", "a shelf"]),
    ("pushing a box off a table", "Pushing [something] off [something]", ["a box", "a table"]),
    ("putting a coin under a plate", "Putting [something] under [something]", ["a coin", "a plate"]),
    ("opening a bottle", "Opening [something]", ["a bottle"]),
    ("folding a red shirt", "Folding [something]", ["a red shirt"]),
]


def event(verb: str, **arguments: str) -> dict:
    names = {"Arg0": "Arg0 (agent)", "Arg1": "Arg1 (thing)", "scene": "Scene of the Event"}
    args = {names[key]: text for key, text in arguments.items()}
    places = {name: place for place, name in enumerate(args, start=1)}
    return {"VerbID": f"{verb}.01", "vid_seg_int": "v_abc_seg_20_30", "Arg_List": places, "Args": args}


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The six sources, in the folders that the page names."""
    monkeypatch.chdir(tmp_path)
    quva = tmp_path / "QUVARepetitionDataset"
    (quva / "annotations").mkdir(parents=True)
    np.save(quva / "annotations" / "000_rope.npy", np.arange(13, 13 * 17, 13))
    template = {"templates": ["a man skips rope exactly <number> times."], "prefix": "000_rope"}
    singular = {"singular_templates": ["a man skips rope exactly <number> time."]}
    (quva / "quva-templates-processed.json").write_text(json.dumps({"000": template | singular}), encoding="utf-8")
    annotations = tmp_path / "vidsitu_annotations" / "vseg_ann_files"
    annotations.mkdir(parents=True)
    events = {
        "Ev1": event("open", Arg0="a shirtless man", Arg1="the window", scene="bedroom"),
        "Ev2": event("kick", Arg0="a man in black", Arg1="the guard"),
    }
    (annotations / "vsann_train_lb.json").write_text(json.dumps([events]), encoding="utf-8")
    labels = [
        {"id": str(place), "label": label, "template": template, "placeholders": filled}
        for place, (label, template, filled) in enumerate(LABELS)
    ]
    Path("something-something-v2-validation.json").write_text(json.dumps(labels), encoding="utf-8")
    Path("rareact.csv").write_text(
        "id,video_id,start,end,class_id,verb,noun,annotation\n14,abc,0,1,8,cut,laptop,1\n15,abc,0,1,9,cut,egg,0\n",
        encoding="utf-8",
    )
    Path("rareact_videos").mkdir()
    write_mp4(Path("rareact_videos/abc.mp4"), np.full((20, 32, 32, 3), 99, np.uint8), fps=10)


def runnable(line: str) -> list[str]:
    """The words of a command, with fake models where its recipe names weights."""
    words = shlex.split(line)
    recipe = words[words.index("--recipe") + 1] if "--recipe" in words else ""
    return [*words, *(word for param in FAKES.get(recipe, ()) for word in ("--set", param))]


@pytest.mark.full
@pytest.mark.usefixtures("sources")
def test_the_commands_of_the_page_make_every_subtest():
    lines = [line for block in split(TEXT)[1] for line in command_lines(block)]
    for line in lines:
        assert cli.run(runnable(line)) == 0, line
    assert set(Subtest.objects.values_list("name", flat=True)) == SUBTESTS
    passed = Candidate.objects.exclude(state=CandidateState.FILTERED_OUT)
    assert set(passed.values_list("group__run__subtest__name", flat=True)) == SUBTESTS
