"""`vlmeval`: a TSV file and a data set class for VLMEvalKit: a choice by letter among the texts of each item."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.choices import (
    FILES,
    LETTERS,
    QUESTION,
    choices_of,
    task_name,
    write_choices,
)
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import canary_line, manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import write_rows
from foilworks.core.corpus.records import RecordContent, ReleaseContent

ABOUT = ("id", "subtest", "video", "start", "end", "unit")
README = """# {name} for VLMEvalKit

{n} items of the release `{release}`, content hash `{content_hash}`. Each pairs a true caption with false ones.
{canary}
1. Copy the videos into `videos/` of this folder, or set `FOILWORKS_VIDEOS` to their folder. `{name}.tsv` names them.
   Clips with a start or an end are cut by ffmpeg when they are first needed.
2. Put this folder on `PYTHONPATH`, and add `from {name}_dataset import Items` to the list of video data sets in
   `vlmeval/dataset/__init__.py`. Then: `python run.py --data {name} --model MODEL --nframe 8`.

Chance is 1 / number of sentences. An answer from which no option can be read (`model_answers.py`) counts as wrong in
`overall`, and `overall_readable` leaves it out. To read the scores back:
`foilworks evaluate file PREDICTIONS.xlsx --release RELEASE`.
"""


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no item with foils, or the folder cannot be written
    there."""
    choices = choices_of(released_items(release), release)
    name = task_name(release)
    letters = LETTERS[: max(len(choice["options"]) for choice in choices)]

    def fill(folder: Path) -> None:
        write_choices(folder, choices, [("clips.py", "clips.py")])
        dataset = (FILES / "vlmeval_dataset.py").read_text(encoding="utf-8").replace('"{name}"', f'"{name}"')
        (folder / f"{name}_dataset.py").write_text(dataset, encoding="utf-8", newline="\n")
        header = ["index", *ABOUT, "question", *letters, "answer"]
        write_rows(
            folder / f"{name}.tsv", header, (_row(index, choice, letters) for index, choice in enumerate(choices)), "\t"
        )
        readme = README.format(
            name=name,
            n=len(choices),
            release=release.release,
            content_hash=release.content_hash or "current records",
            canary=canary_line(release),
        )
        (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")

    return write_folder(out, manifest_facts(release, "vlmeval", len(choices)), fill)


def _row(index: int, choice: Mapping[str, Any], letters: str) -> list[Any]:
    texts = [*choice["options"], *[""] * (len(letters) - len(choice["options"]))]
    return [index, *(choice.get(name, "") for name in ABOUT), QUESTION, *texts, choice["answer"]]
