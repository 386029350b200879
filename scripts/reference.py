"""Write the tables of docs/reference/ from the code: commands, methods, formats, models, metrics, states, the API; and
the schema of an audit's JSON.

    .venv/bin/python scripts/reference.py update     writes the pages
    .venv/bin/python scripts/reference.py check      names outdated pages; status 1 if there are any
    .venv/bin/python scripts/reference.py check PAGE …    only these: a second, all of them ten

Do not edit these pages by hand; tests/docs/test_reference.py compares them with the code.
"""

import argparse
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from reference_parts import documented, entries, page, sentence, table, tidy

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
# Options of every command: Django's own, and the two that ours share.
SHARED = {
    "help",
    "as_json",
    "version",
    "verbosity",
    "settings",
    "pythonpath",
    "traceback",
    "no_color",
    "force_color",
    "skip_checks",
}


def _named(module: str, name: str) -> Any:
    """Import a module's attribute when a page is written: Django is set up by then, and mypy follows no tables."""
    return getattr(import_module(module), name)


# --- commands


def cli_page() -> str:
    names = _named("foilworks.site.cli", "own_commands")()
    intro = (
        "Every command has `--help`, and `--json` for one JSON object on stdout. Exit status: 0 done, 1 bad input (one "
        "line says what is wrong and what to do), 2 wrong usage. Django's commands (`shell`, `changepassword` …) work "
        "as well.\n"
    )
    overview = table(["command", "does"], [(f"[{name}](#{name})", sentence(_command(name).help)) for name in names])
    return page("Commands", "the commands' own parsers", intro, overview, *[_command_part(name) for name in names])


def _command(name: str) -> Any:
    return import_module(f"foilworks.site.management.commands.{name}").Command()


def _command_part(name: str) -> str:
    command = _command(name)
    parser = command.create_parser("foilworks", name)
    parts = [f"## {name}\n", sentence(command.help) + "\n"]
    if command.example:
        lines = [line.strip() for line in command.example.split("\n")]
        parts.append("```\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts + _arguments(parser))


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    rows, nested = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            nested += [(name, sub) for name, sub in action.choices.items()]
        elif action.dest not in SHARED and action.help is not argparse.SUPPRESS:
            rows.append(
                (_flags(action), tidy((action.help or "").replace(":\n", ": ").replace("\n", "; ")), _default(action))
            )
    parts = [table(["argument", "what it is", "default"], rows)] if rows else []
    for name, sub in nested:
        parts += [f"### {parser.prog.split()[-1]} {name}\n", sentence(sub.description) + "\n", *_arguments(sub)]
    return parts


def _flags(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    takes = action.metavar or (action.dest.upper() if action.option_strings and action.nargs != 0 else action.dest)
    if action.nargs == 0 and action.option_strings:
        takes = ""
    choices = f" ({', '.join(map(str, action.choices))})" if action.choices else ""
    return f"{names} {takes}{choices}{', required' if action.required and action.option_strings else ''}".strip()


def _default(action: argparse.Action) -> str:
    nothing = action.default is None or action.default is False or action.default in ("", [], argparse.SUPPRESS)
    return "–" if nothing else f"`{action.default}`"


def methods_page() -> str:
    makers = _named("generation.captioning.registry", "CAPTIONERS")
    filters = _named("generation.filters.registry", "FILTERS")
    methods = _named("generation.methods.registry", "METHODS")
    recipe_table = _named("generation.recipes", "RECIPES")

    recipes = [
        (
            f"`{slug}@{one.version}`",
            one.label,
            f"`{one.method}`",
            ", ".join(f"`{name}`" for name in one.filters),
            f"`{one.captioner}`" if one.captioner else "–",
            one.source,
        )
        for slug, one in recipe_table.items()
    ]
    return page(
        "Methods, captions, filters, recipes",
        "`generation/` (the four tables)",
        "Set a parameter with `--set NAME=VALUE`, and a parameter of a filter with `--set FILTER.NAME=VALUE`. "
        "Mode `paper` follows the published method. Mode `corrected` (the default) has the deviations listed here.\n",
        "The [quality page](quality.md) measures the methods by rule on published files.\n",
        "## Methods: captions to foils\n",
        entries("method", methods, cited=True),
        "## Caption makers\n",
        entries("maker", makers, cited=True),
        "## Filters: reasons to drop a foil\n",
        entries("filter", filters, cited=True),
        "## Recipes: published subtests\n",
        table(["recipe", "", "method", "filters", "captions by", "source"], recipes),
    )


def formats_page() -> str:
    exporters = _named("foilworks.core.corpus.export_formats.registry", "EXPORTERS")
    columns = _named("foilworks.core.corpus.import_formats.jsonl", "COLUMNS")
    importers = _named("foilworks.core.corpus.import_formats.registry", "IMPORTERS")

    return page(
        "Table of formats",
        "`foilworks/core/corpus/import_formats/registry.py` and `foilworks/core/corpus/export_formats/registry.py`",
        "[Formats](formats.md) describes their files.\n",
        "## Imports\n",
        entries("format", importers),
        "## Columns of `jsonl`, `csv` and `hf`\n",
        table(["column", "meaning"], [(f"`{name}`", tidy(text)) for name, text in columns.items()]),
        "## Exports\n",
        entries("format", exporters),
    )


CONTROLS = """
**No clip.** Generative models and endpoints get the same prompt without the video or its pictures. `vlm` with
`mode=gain` gets gray frames, because without a clip its score is 0 for all texts. Other models get gray frames, once
per release. The run notes which (`no_clip`: `none` or `grey`).

**Another clip** is the clip of another item, drawn uniformly from the items of other source videos, or from those of
its subtest. A release of one source video has no such rung.

**Subtitles** are those of a column `subtitles` of the items. Without it, a file `.srt` or `.vtt` beside the video
counts, when the video is imported or attached. Lines with times count if they are shown during the clip. A release
freezes them. They are in the prompt before the question. `vlm` and endpoints read them; the other models have no
prompt.

**Sound** is sent as `input_audio`: WAV, mono, 16,000 samples per second, cut to the clip. Models behind an endpoint
hear, if their server accepts it. No local adapter hears.

**Stress tests** ask for yes or no: `vlm` and endpoints with `mode=p_yes`. [What they
say](../explanation/ladder.md#stress-tests).

**Cost before a run.** `foilworks evaluate cost SPEC --release ID` lists for each rung the clips shown, the texts, and
for an endpoint requests, tokens and cost. *Show cost* on the page and `GET …/rung-costs` say the same. Stored scores
cost nothing, so these numbers are a maximum. Without `by=samples`, log-probabilities are assumed: one request per text.

**Cost.** A clip is decoded once. CLIP, SigLIP and BLIP-2 encode each frame once. X-CLIP and the tiny models share what
does not depend on the order of frames. Other models that read frames together encode each distinct view: six per clip.
In the size of ViT-B/32 on a CPU, the usual rungs cost 1.2 times a plain run for CLIP and 2.4 times for X-CLIP.

**Models that open the file.** An external program gets the frames of a view, and an empty `path`. If it reads the file
itself, its card says `"opens_file": true`; a run with controls is then refused.

**Score files** have one file per rung: `--rung shuffled=FILE --rung no_clip=FILE`. Its ids are matched as those of the
first file.
"""


def scoring_page() -> str:
    protocol_table = _named("evaluation.scoring.protocols", "PROTOCOLS")
    adapters = _named("foilworks.core.hub.catalogue.registry", "ADAPTERS")
    every = _named("foilworks.core.hub.catalogue.registry", "EVERY")

    rungs, stress = _named("evaluation.metrics.rungs", "RUNGS"), _named("evaluation.metrics.stress", "STRESS")
    others = {slug: row for slug, row in every.items() if slug not in adapters}
    fields = ("version", "ties", "frames", "pooling", "image_frames", "perplexity", "own_tokens", "paired_only")
    protocols = [
        (f"`{slug}`", one.summary, *[_plain(getattr(one, field)) for field in fields])
        for slug, one in protocol_table.items()
    ]
    return page(
        "Adapters and protocols",
        "`foilworks/core/hub/catalogue/registry.py` and `evaluation/scoring/protocols.py`",
        "Name a model as `SLUG:ARGUMENT`; [Models](models.md) describes each.\n",
        "## Adapters: models that score\n",
        entries("adapter", adapters),
        "## Helpers: models for methods, filters and audits\n",
        entries("helper", others),
        "(protocols)=",
        "## Protocols: how a model is queried and how its scores count\n",
        table(["protocol", "what it is", *[field.replace("_", " ") for field in fields]], protocols),
        "(controls)=",
        "## Controls: the same items with less and less of each clip\n",
        "`--controls`, or **Controls** on the page, scores each item again on the usual rungs. `--rungs A,B`, or the "
        "list on the page, scores those that you name, and stress tests. A model that reads texts alone has the same "
        "scores on all rungs.\n",
        table(
            ["rung", "what the model sees", "usual", "for models that"],
            [
                (f"`{rung}`", kind.shown, "yes" if kind.is_usual else "", kind.needs.value)
                for rung, kind in rungs.items()
            ],
        ),
        table(["stress test", "what the model is asked"], [(f"`{name}`", kind.shown) for name, kind in stress.items()]),
        CONTROLS,
    )


def families_page() -> str:
    dual_encoders = _named("foilworks.core.hub.families", "DUAL_ENCODERS")
    counts = [
        (f"`{one}`", f"`{found.adapter}`" if found.adapter else "–", found.support, found.note or "–")
        for one, found in dual_encoders.items()
    ]
    rows = generative_rows()
    tested = sum(row[2] == "tested" for row in rows)
    return page(
        "Families of models in transformers",
        "transformers itself, `foilworks/core/hub/families.py` and `foilworks/core/hub/batching/video_families.py`",
        "The `model_type` is in a model's `config.json`.\n",
        "- **tested**: tests score tiny models of the family with random weights, in their published layout.\n"
        "- **untested**: no adapter was written for the family. A generative model is scored by its own processor and "
        "chat template if it passes [checks](models.md#untested-families) when it is loaded. Its key and the board say "
        "*untested family*.\n"
        "- **absent**: the adapter refuses the family. Serve the model and use an "
        "[endpoint](../how-to/score.md#models-behind-endpoints), or write an "
        "[external program](models.md#a-model-outside-transformers).\n",
        "torchvision is an extra (`pip install 'foilworks[torchvision]'`): its wheels on PyPI are CUDA builds, which a "
        "CPU build of torch cannot load ([decision 15](../decisions/0015-video-tensors-without-torchvision.md)). "
        "Without it, frames are shown as pictures, and families whose processors of pictures need it are refused.\n",
        "## Generative models: `vlm`\n",
        f"`AutoModelForImageTextToText` (or, with sound, `AutoModelForMultimodalLM`) opens {len(rows)} families; "
        f"{tested} of them are tested, and tiny models of {sum(CHECKED in row[3] for row in rows)} others pass the "
        "checks.\n",
        table(["model_type", "class in transformers", "support", "how a clip is shown, or what is missing"], rows),
        "## Dual encoders and matching heads\n",
        table(["model_type", "adapter", "support", "how a clip is shown, or what is missing"], counts),
    )


CHECKED = "; a tiny model passes the checks"


def generative_rows() -> list[tuple[str, str, str, str]]:
    """(model_type, class, support, how) of every family, the tested ones first."""
    known = _named("foilworks.core.hub.batching.video_families", "FAMILIES")
    tests = {**_named("tests.hub.generative_folders", "FAMILIES"), **_named("tests.hub.picture_folders", "PICTURES")}
    support, checked = _named("foilworks.core.hub.families", "Support"), _named("tests.hub.untested_folders", "KINDS")
    unpassed = _named("tests.hub.untested_folders", "UNPASSED")
    images = _named("transformers.models.auto.image_processing_auto", "IMAGE_PROCESSOR_MAPPING_NAMES")
    every = _named("transformers.models.auto.modeling_auto", "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES")
    opened = _named("transformers.models.auto.modeling_auto", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES")
    rows = []
    parts = {name for name in opened if name.endswith("_thinker")}
    for one in sorted({*opened, *_named("foilworks.core.hub.families", "OMNI")} - parts):
        # The adapter loads the thinker of an omni model.
        part = one if one in known else f"{one}_thinker"
        if part in known:
            found = support.TESTED if part in tests else support.OPENS
            how = (inspect.getdoc(known[part].prepare) or "").split("\n")[0]
            how += f" Its makers' frames: {known[part].makers.version}."
        else:
            found, needs = support.OPENS, one in images and "pil" not in (images[one] or ())
            how = "by its own processor" + (", which needs torchvision" if needs else "")
            how += CHECKED if one in checked else f"; not passed: {unpassed[one]}" if one in unpassed else ""
        rows.append((f"`{one}`", f"`{opened.get(part) or every[one]}`", str(found), how))
    return sorted(rows, key=lambda row: (list(support).index(row[2]), row[0]))


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "as the model requires" if value is None else str(value)


def reports_page() -> str:
    by_job = _named("evaluation.analyses.registry", "BY_JOB")
    of_scores = _named("evaluation.analyses.registry", "OF_SCORES")
    reports = _named("evaluation.analyses.registry", "REPORTS")
    metrics = _named("evaluation.metrics.registry", "METRICS")

    return page(
        "Metrics and reports",
        "`evaluation/metrics/` and `evaluation/analyses/` (tables and docstrings)",
        "[Formulas](formulas.md) shows their formulas with small examples.\n",
        "## Metrics over scores: `foilworks metrics KIND`\n",
        documented("metric", metrics),
        "## Reports: `foilworks report KIND`\n",
        documented("report", reports),
        "Of the scores of a release: "
        + ", ".join(f"`{slug}`" for slug in sorted(of_scores))
        + ". By a job on pages: "
        + ", ".join(f"`{slug}`" for slug in sorted(by_job))
        + ".\n",
    )


# --- states


def states_page() -> str:
    candidate_moves = _named("foilworks.core.corpus.rules.states", "CANDIDATE_MOVES")
    item_moves = _named("foilworks.core.corpus.rules.states", "ITEM_MOVES")
    candidate_states = _named("foilworks.core.corpus.rules.states", "CandidateState")
    verdict_states = _named("foilworks.core.corpus.rules.states", "FoilVerdict")
    item_states = _named("foilworks.core.corpus.rules.states", "ItemState")

    parts = []
    machines = (("A candidate", candidate_states, candidate_moves), ("An item", item_states, item_moves))
    for title, states, moves in machines:
        order = [state.value for state in states]
        rows = [(f"`{name}`", _states(move.origins, order), _states(move.to, order)) for name, move in moves.items()]
        parts += [
            f"## {title}\n",
            "States: " + ", ".join(f"`{state}`" for state in order) + ".\n",
            table(["move", "from", "to"], rows),
        ]
    verdicts = ", ".join(f"`{verdict.value}`" for verdict in verdict_states)
    return page(
        "States and moves",
        "`foilworks/core/corpus/rules/states.py`",
        "(state-machines)=",
        "Both state machines refuse a move from any other state. [Life cycle of an item](../workflow.md#states) says "
        "when each happens.\n",
        *parts,
        f"Each caption-foil pair of an item has a verdict: {verdicts}. The item's state follows from them.\n",
    )


def _states(found: Iterable[str], order: list[str]) -> str:
    return ", ".join(f"`{state}`" for state in sorted(found, key=order.index))


# --- the API


def operations_page() -> str:

    document = _named("foilworks.site.api.api", "api").get_openapi_schema()
    groups: dict[str, list[tuple[str, ...]]] = {}
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            group = (operation.get("tags") or ["the rest"])[0]
            asked = [found["name"] for found in operation.get("parameters", []) if found["in"] == "query"]
            names = ", ".join(f"`{name}`" for name in asked) or "–"
            # Access and refusals are the same for all, and are on the page of the API.
            told = (operation.get("description") or operation.get("summary") or "").split("\n\n")[0]
            groups.setdefault(group, []).append((f"`{verb.upper()} {path}`", tidy(told), names))
    parts = [f"## {group}\n\n" + table(["operation", "does", "query"], rows) for group, rows in groups.items()]
    return page(
        "Operations of the API",
        "the OpenAPI document, `/api/v1/openapi.json`",
        "[The API](api.md) describes what they share: tokens, pages of lists, ETags, keys, errors.\n",
        *parts,
    )


def audit_schema() -> str:
    return json.dumps(_named("evaluation.audit.schema", "json_schema")(), indent=2, ensure_ascii=False) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "../schema/audit-2.json": audit_schema,
    "cli.md": cli_page,
    "methods.md": methods_page,
    "format-tables.md": formats_page,
    "scoring.md": scoring_page,
    "families.md": families_page,
    "reports.md": reports_page,
    "states.md": states_page,
    "api-operations.md": operations_page,
}


def behind(names: Iterable[str] = ()) -> dict[str, str]:
    """Return name -> text of the outdated pages; of all pages if none is named."""
    made = {name: PAGES[name]() for name in names or PAGES}
    return {name: text for name, text in made.items() if _stored(name) != text}


def _stored(name: str) -> str:
    path = FOLDER / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main(arguments: list[str]) -> int:
    names = arguments[1:] if arguments[:1] == ["check"] else []
    if arguments[: len(arguments) - len(names)] not in (["update"], ["check"]) or set(names) - set(PAGES):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    django.setup()
    updating = arguments == ["update"]
    found = behind(names)
    for name, text in found.items():
        if updating:
            (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}: {'written' if updating else 'is outdated; run update'}")
    return 1 if found and not updating else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
