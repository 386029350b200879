"""Write docs/audits.md: audits of public benchmarks, from a folder of files that you fetched.

    .venv/bin/python scripts/audits.py FOLDER [NAME ...]

FOLDER has one folder per benchmark, named as in `BENCHMARKS`, with the files that docs/audits.md lists. The files are
not part of this repository. A benchmark without its folder is an error. With names of folders, only the rows of these
benchmarks change. The tables are written between marks; the text around them is written by hand.
"""

import argparse
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.audit.audit import Options, audit
from foilworks.core.corpus.import_formats.parsing.text_files import Source

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "audits.md"
START, END = "<!-- audits: start -->", "<!-- audits: end -->"
SUBTESTS_START, SUBTESTS_END = "<!-- subtests: start -->", "<!-- subtests: end -->"
FILES_START, FILES_END = "<!-- files: start -->", "<!-- files: end -->"
COLUMNS = (
    *("benchmark", "items", "options", "chance", "without the video", "verdict", "item alone", "file", "position"),
    *("JS (chance)", "repeated", "seconds"),
)


@dataclass(frozen=True)
class Benchmark:
    """One row: its folder, its name, where its files are public, at which commit, and their names there."""

    folder: str
    name: str
    repository: str
    commit: str
    inside: str
    files: tuple[str, ...]
    licence: str = "see the repository"
    answers: str = ""


SUGARCREPE = tuple(
    f"{kind}.json"
    for kind in ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
)
VALSE = (
    "actant-swap",
    "action-replacement",
    "coreference-hard",
    "coreference-standard",
    "counting-adversarial",
    "counting-hard",
    "counting-small-quant",
    "existence",
    "foil-it",
    "plurals",
    "relations",
)
VILMA = (
    "SRL_Action_Replacement_Top_1000",
    "SRL_Actor_Swapping",
    "change-state-action",
    "change-state-inverse",
    "change-state-poststate",
    "change-state-prestate",
    "counting-easy-digits-sec",
    "counting-hard-digits-sec",
    "rare-actions-noun-foils",
    "rare-actions-verb-foils",
    "relations",
)
VITATECS = ("Compositionality", "Direction", "Intensity", "Localization", "Sequence", "Type")


TVBENCH = (
    *("action_antonym", "action_count", "action_localization", "action_sequence", "egocentric_sequence"),
    *("moving_direction", "object_count", "object_shuffle", "scene_transition", "unexpected_action"),
)
MVBENCH = (
    *("action_antonym", "action_count", "action_localization", "action_prediction", "action_sequence"),
    *("character_order", "counterfactual_inference", "egocentric_navigation", "episodic_reasoning"),
    *("fine_grained_action", "fine_grained_pose", "moving_attribute", "moving_count", "moving_direction"),
    *("object_existence", "object_interaction", "object_shuffle", "scene_transition", "state_change"),
    "unexpected_action",
)
TOMATO = ("count", "direction", "rotation", "shape&trend", "velocity&frequency", "visual_cues")
VIDEOHALLUCER = (
    *("external_factual", "external_nonfactual", "interaction", "object_relation", "semantic_detail", "temporal"),
)
PARQUET = ("test-00000-of-00001.parquet",)


def json_names(stems: tuple[str, ...], ending: str = "json") -> tuple[str, ...]:
    return tuple(f"{stem}.{ending}" for stem in stems)


def of_oasis(folder: str, name: str, files: tuple[str, ...], inside: str = "") -> Benchmark:
    """A video set in the copy of the repository of Video-Oasis."""
    path = f"data/benchmarks/annos/{inside or folder}"
    return Benchmark(folder, name, "sejong-rcv/Video-Oasis", "d305068", path, files, "MIT (of the copy)")


def of_tgif(kind: str, name: str) -> Benchmark:
    files = (f"Test_{kind}_question.csv",)
    return Benchmark(f"tgif_{kind}", f"TGIF-QA, {name}", "YunseokJANG/tgif-qa", "9ecbbc7", "dataset", files)


VIDEO_SETS = (
    of_oasis("video-mme", "Video-MME", PARQUET),
    of_oasis("vsi-bench", "VSI-Bench", ("test.jsonl",)),
    of_oasis("tvbench", "TVBench", json_names(TVBENCH), "tvbench/json"),
    of_oasis("mvbench", "MVBench", json_names(MVBENCH), "mvbench/json"),
    of_oasis("egoschema", "EgoSchema", PARQUET),
    of_oasis("mlvu_test", "MLVU, test", ("test_mcq_gt.json",)),
    of_oasis("lvbench", "LVBench", ("video_info.meta.jsonl",)),
    of_oasis("longvideobench", "LongVideoBench, validation", ("lvb_val.json",)),
    of_oasis("video-holmes", "Video-Holmes", ("test_Video-Holmes.json",)),
    Benchmark("nextgqa", "NExT-GQA, test", "doc-doc/NExT-GQA", "63772e0", "datasets/nextgqa", ("test.csv",), "MIT"),
    Benchmark("intentqa", "IntentQA, test", "JoseponLee/IntentQA", "9112303", "datasets/IntentQA", ("test.csv",)),
    Benchmark("tomato", "TOMATO", "yale-nlp/TOMATO", "fe2025f", "data", json_names(TOMATO)),
    Benchmark(
        "videohallucer",
        "VideoHallucer",
        "patrick-tssn/VideoHallucer",
        "ae4c2f2",
        "videohallucer_datasets/*",
        json_names(VIDEOHALLUCER),
        "MIT",
    ),
    Benchmark(
        "eventhallusion",
        "EventHallusion",
        "Stevetich/EventHallusion",
        "7396e04",
        "questions",
        json_names(("entire_questions", "interleave_questions", "misleading_questions")),
    ),
    of_tgif("action", "repeated actions"),
    of_tgif("transition", "transitions"),
    of_tgif("count", "counts"),
    of_tgif("frameqa", "frames"),
    Benchmark(
        "activitynet_qa",
        "ActivityNet-QA, test",
        "MILVLG/activitynet-qa",
        "2cf80ae",
        "dataset",
        ("test_q.json",),
        "Apache-2.0",
        answers="test_a.json",
    ),
    Benchmark(
        "vsr",
        "VSR, zero-shot test",
        "cambridgeltl/visual-spatial-reasoning",
        "b27a0af",
        "data/splits/zeroshot",
        ("test.jsonl",),
        "Apache-2.0",
    ),
)
BENCHMARKS = (
    *VIDEO_SETS,
    Benchmark("sugarcrepe", "SugarCrepe", "RAIVNLab/sugar-crepe", "0047054", "data", SUGARCREPE, "MIT"),
    Benchmark(
        "sugarcrepe_unrefined",
        "SugarCrepe, before refinement",
        "RAIVNLab/sugar-crepe",
        "0047054",
        "data_unrefined",
        SUGARCREPE,
        "MIT",
    ),
    Benchmark("valse", "VALSE", "Heidelberg-NLP/VALSE", "2152d90", "data", json_names(VALSE)),
    Benchmark("vilma", "ViLMA", "ilkerkesen/ViLMA", "746912b", "data", json_names(VILMA), licence="MIT"),
    Benchmark("vitatecs", "VITATECS", "lscpku/VITATECS", "58bff59", "data", json_names(VITATECS, "jsonl")),
    Benchmark(
        "contrast_lm",
        "Contrast set of MSR-VTT, by a language model",
        "jamespark3922/video-lang-contrast-set",
        "26e101d",
        "msrvtt",
        ("msrvtt_lm_contrast_set.tsv",),
    ),
    Benchmark(
        "contrast_human",
        "Contrast set of MSR-VTT, by people",
        "jamespark3922/video-lang-contrast-set",
        "26e101d",
        "msrvtt",
        ("msrvtt_human_contrast_set.tsv",),
    ),
    Benchmark("nextqa", "NExT-QA, test", "doc-doc/NExT-QA", "6b92588", "dataset/nextqa", ("test.csv",), "MIT"),
    Benchmark(
        "tempcompass_choice",
        "TempCompass, multi-choice",
        "llyx97/TempCompass",
        "e1b4631",
        "questions",
        ("multi-choice.json",),
    ),
    Benchmark(
        "tempcompass_matching",
        "TempCompass, caption matching",
        "llyx97/TempCompass",
        "e1b4631",
        "questions",
        ("caption_matching.json",),
    ),
    Benchmark(
        "videocon",
        "VideoCon, NExT-QA statements",
        "Hritikbansal/videocon",
        "9a69520",
        "datasets",
        ("nextqa-atphard-statements.csv",),
        "MIT",
    ),
    Benchmark(
        "vl_checklist_relations",
        "VL-CheckList, relations",
        "amitakamath/hard_positives",
        "33addaa",
        "data",
        ("vl_checklist_relations.json",),
    ),
    Benchmark(
        "vl_checklist_attributes",
        "VL-CheckList, attributes",
        "amitakamath/hard_positives",
        "33addaa",
        "data",
        ("vl_checklist_attributes.json",),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders of single benchmarks; all by default")
    options = parser.parse_args()
    found = [
        (benchmark, *_audited(options.folder, benchmark))
        for benchmark in BENCHMARKS
        if not options.names or benchmark.folder in options.names
    ]
    page = PAGE.read_text(encoding="utf-8")
    page = _with_rows(page, START, END, _table(found))
    page = _with_rows(page, SUBTESTS_START, SUBTESTS_END, _subtests(found))
    page = _between(page, FILES_START, FILES_END, _files())
    PAGE.write_text(page, encoding="utf-8")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB", file=sys.stderr)


def _audited(folder: Path, benchmark: Benchmark) -> tuple[dict[str, Any], float]:
    answers = folder / benchmark.folder / benchmark.answers if benchmark.answers else None
    sources = [Source(folder / benchmark.folder / name, answers=answers) for name in benchmark.files]
    started = time.process_time()
    result = audit(sources, Options())
    print(f"{benchmark.name}: {result['items']} items, {result['verdict']}", file=sys.stderr)
    return result, time.process_time() - started


def _between(page: str, start: str, end: str, text: str) -> str:
    head, _, rest = page.partition(start)
    return f"{head}{start}\n{text}\n{end}{rest.partition(end)[2]}"


def _with_rows(page: str, start: str, end: str, rows: list[str]) -> str:
    """Put a table's rows in place of those of the same benchmarks; the rows of other benchmarks stay."""
    old = page.partition(start)[2].partition(end)[0].strip().split("\n")
    by_name = defaultdict(list)
    for row in rows[2:]:
        by_name[_name(row)].append(row)
    kept = [row for row in old[2:] if _name(row) not in by_name]
    for row in kept:
        by_name[_name(row)].append(row)
    names = [benchmark.name for benchmark in BENCHMARKS]
    return _between(page, start, end, "\n".join([*rows[:2], *(row for name in names for row in by_name[name])]))


def _name(row: str) -> str:
    return row.removeprefix("| ").split(" | ")[0]


def _table(found: list[tuple[Benchmark, dict[str, Any], float]]) -> list[str]:
    rows = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for benchmark, result, seconds in found:
        if result["without_video"]:
            rows.append(_row(benchmark, result, seconds))
        rows += [_open_row(benchmark, row) for row in result["open_answers"]]
    return rows


def _row(benchmark: Benchmark, result: Mapping[str, Any], seconds: float) -> str:
    by_check = {finding["check"]: finding for finding in result["findings"]}
    divergence, again = by_check["divergence"], by_check["duplicates"]["details"]["repeated"]
    cells = [
        benchmark.name,
        f"{result['items']:,}",
        _options(result["options"]),
        _percent(result["without_video"]["chance"]),
        _cell(result["without_video"]),
        result["without_video"]["verdict"].replace("_", " "),
        _cell(result["without_video"]["tiers"]["item"]),
        _cell(result["without_video"]["tiers"]["file"]),
        _cell(by_check["position"]),
        f"{divergence['value']:.3f} ({divergence['chance']:.3f})" if divergence["value"] is not None else "–",
        str(again),
        f"{seconds:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _open_row(benchmark: Benchmark, row: Mapping[str, Any]) -> str:
    """Return a row of answers without options; chance is the best constant answer per type."""
    kind = "words" if row["kind"] == "words" else f"numbers, {'MRA' if row['metric'] != 'exact match' else 'exact'}"
    cells = [
        benchmark.name,
        f"{row['n']:,}",
        kind,
        _percent(row["chance"]),
        _cell(row),
        row["verdict"].replace("_", " "),
    ]
    return f"| {' | '.join([*cells, *['–'] * (len(COLUMNS) - len(cells))])} |"


def _options(options: Mapping[str, int]) -> str:
    sizes = list(options)
    return sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def _subtests(found: list[tuple[Benchmark, dict[str, Any], float]]) -> list[str]:
    rows = [
        "| benchmark | subtest | items | without the video | p (Holm) | strongest word |",
        "|---|---|---|---|---|---|",
    ]
    for benchmark, result, _seconds in found:
        for subtest in result["subtests"]:
            by_check = {finding["check"]: finding for finding in subtest["findings"]}
            cells = [
                benchmark.name,
                subtest["name"],
                f"{subtest['items']:,}",
                _cell(subtest["without_video"] or {"value": None}),
                _p_value(subtest["without_video"]),
                _word(by_check["cues"]),
            ]
            rows.append(f"| {' | '.join(cells)} |")
    return rows


def _word(finding: Mapping[str, Any]) -> str:
    words = (finding["details"] or {}).get("words", [])
    mark = _mark(finding)
    return f"{mark}{words[0]['word']}, {_percent(finding['value'])}{mark}" if words else "–"


def _p_value(row: Mapping[str, Any] | None) -> str:
    return "–" if row is None else "< .001" if row["p_holm"] < 0.001 else f"{row['p_holm']:.3f}"


def _mark(row: Mapping[str, Any]) -> str:
    return "**" if row.get("verdict") == "fail" else ""


def _cell(finding: Mapping[str, Any]) -> str:
    if finding["value"] is None:
        return "–"
    mark = _mark(finding)
    around = " to ".join(f"{100 * bound:.1f}" for bound in finding["interval"]) if finding["interval"] else ""
    return f"{mark}{_percent(finding['value'])}{mark} [{around}]"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _files() -> str:
    rows = ["| benchmark | folder | files | repository | commit | licence |", "|---|---|---|---|---|---|"]
    rows += [f"| {' | '.join(_file_cells(benchmark))} |" for benchmark in BENCHMARKS]
    return "\n".join(rows)


def _file_cells(benchmark: Benchmark) -> Iterator[str]:
    yield benchmark.name
    yield f"`{benchmark.folder}/`"
    names = ", ".join(f"`{name}`" for name in filter(None, (*benchmark.files, benchmark.answers)))
    yield f"`{benchmark.inside}/`: {names}"
    yield f"[{benchmark.repository}](https://github.com/{benchmark.repository})"
    yield f"`{benchmark.commit}`"
    yield benchmark.licence


if __name__ == "__main__":
    main()
