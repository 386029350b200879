"""`lmms-eval`: a folder of tasks that lmms-eval loads: a choice by letter, and the likelihood of each text, with the
clip and without it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.choices import ITEMS, choices_of, task_name, write_choices
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import canary_line, manifest_facts, released_items
from foilworks.core.corpus.records import RecordContent, ReleaseContent

FILES = (("lmms_eval_utils.py", "utils.py"), ("clips.py", "clips.py"))
TASK = """task: {task}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {items}
test_split: test
output_type: {output}
doc_to_visual: !function utils.{visual}
doc_to_text: !function utils.{text}
doc_to_target: {target}
{own}process_results: !function utils.{results}
metric_list:
{metrics}metadata:
- version: {version}
"""
METRIC = """- metric: {name}
  aggregation: !function utils.{how}
  higher_is_better: {higher}
"""
ACCURACY = METRIC.format(name="accuracy", how="mean", higher="true")
UNREADABLE = METRIC.format(name="unreadable", how="mean", higher="false")
ITEM = METRIC.format(name="item", how="count", higher="true")
# Models that reason need thousands of tokens; others stop after the letter.
CHOICE = "generation_kwargs:\n  max_new_tokens: 4096\n  do_sample: false\n"
LIKELIHOOD = "doc_to_choice: !function utils.options\n"
GROUP = "group: {name}\ntask:\n{tasks}"
README = """# {name} for lmms-eval

{n} items of the release `{release}`, content hash `{content_hash}`. Each pairs a true caption with false ones.
{canary}
1. Copy the videos into `videos/` of this folder, or set `FOILWORKS_VIDEOS` to their folder. `items.jsonl` names them.
   Clips with a start or an end are cut by ffmpeg when they are first needed.
2. In this folder:

   ```
   lmms-eval --include_path . --tasks {name}_choice --model MODEL --model_args … --log_samples --output_path logs
   ```

| task | what is asked | chance |
|---|---|---|
| `{name}_choice` | the letter of the true sentence | 1 / number of sentences |
| `{name}_choice_no_clip` | the same, without the clip | the same |
| `{name}_likelihood` | the likelihood of each sentence (models that implement `loglikelihood`) | the same |
| `{name}_likelihood_no_clip` | the same, without the clip | the same |

`{name}` runs the two tasks with a choice. `unreadable` is the share of answers from which no option can be read
(`model_answers.py`); they are wrong in `accuracy`. To read the scores back:
`foilworks evaluate file ….jsonl --release RELEASE` with the samples file of a task, and `--rung no_clip=….jsonl` with
that of the same task without the clip.
"""


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no item with foils, or the folder cannot be written
    there."""
    choices = choices_of(released_items(release), release)
    name = task_name(release)

    def fill(folder: Path) -> None:
        write_choices(folder, choices, FILES)
        for ending, text in _tasks(name, release.content_hash).items():
            (folder / f"{name}{ending}.yaml").write_text(text, encoding="utf-8", newline="\n")
        readme = README.format(
            name=name,
            n=len(choices),
            release=release.release,
            content_hash=release.content_hash or "current records",
            canary=canary_line(release),
        )
        (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")

    return write_folder(out, manifest_facts(release, "lmms-eval", len(choices)), fill)


def _tasks(name: str, version: str) -> dict[str, str]:
    """Return {what follows the name: a task file}."""
    task_files = {}
    for ending, visual in (("", "clip"), ("_no_clip", "no_clip")):
        shared = {"items": ITEMS, "visual": visual, "version": f'"{version[:12]}"'}
        task_files[f"_choice{ending}"] = TASK.format(
            task=f"{name}_choice{ending}",
            output="generate_until",
            text="question",
            target="answer",
            own=CHOICE,
            results="chosen",
            metrics=ACCURACY + UNREADABLE + ITEM,
            **shared,
        )
        task_files[f"_likelihood{ending}"] = TASK.format(
            task=f"{name}_likelihood{ending}",
            output="multiple_choice",
            text="describe",
            target="!function utils.answer",
            own=LIKELIHOOD,
            results="likeliest",
            metrics=ACCURACY + ITEM,
            **shared,
        )
    task_files[""] = GROUP.format(name=name, tasks=f"- {name}_choice\n- {name}_choice_no_clip\n")
    return task_files
