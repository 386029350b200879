"""`inspect`: a folder with an Inspect task: a choice by letter, with the clip and without it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.choices import choices_of, write_choices
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import canary_line, manifest_facts, released_items
from foilworks.core.corpus.records import RecordContent, ReleaseContent

FILES = (("inspect_task.py", "task.py"), ("clips.py", "clips.py"))
README = """# {name} for Inspect

{n} items of the release `{release}`, content hash `{content_hash}`. Each pairs a true caption with false ones.
{canary}
1. Copy the videos into `videos/` of this folder, or set `FOILWORKS_VIDEOS` to their folder. `items.jsonl` names them.
   Clips with a start or an end are cut by ffmpeg when they are first needed.
2. In this folder:

   ```
   inspect eval task.py@choice --model PROVIDER/MODEL
   inspect eval task.py@no_clip --model PROVIDER/MODEL
   ```

Chance is 1 / number of sentences. An answer from which no option can be read (`model_answers.py`) has the value N,
which counts as wrong in Inspect's accuracy. To read the scores back:
`foilworks evaluate file LOG.eval --release RELEASE`, with `--rung no_clip=LOG.eval` for the task without the clip.
"""


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no item with foils, or the folder cannot be written
    there."""
    choices = choices_of(released_items(release), release)

    def fill(folder: Path) -> None:
        write_choices(folder, choices, FILES)
        readme = README.format(
            name=release.project,
            n=len(choices),
            release=release.release,
            content_hash=release.content_hash or "current records",
            canary=canary_line(release),
        )
        (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")

    return write_folder(out, manifest_facts(release, "inspect", len(choices)), fill)
