"""Make what Video-Oasis says of nine of its sets again, from their public questions: without models, without videos.

Five of the 14 sets (ImplicitQA, MINERVA, MMR-V, RTV-Bench and VCR-Bench) are never opened. So no total has a number.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from foilworks.site.reproduction.audits import audit_cells, audit_notes, audits
from foilworks.site.reproduction.oasis_printed import AUDIT, TABLES, contradictions
from foilworks.site.reproduction.progress import plan
from foilworks.site.reproduction.shared_steps import check_weights
from foilworks.site.reproduction.table_cells import CONTRADICTION, Caveat, Cell, Result, Source, compare, missing_lines

PAPER = "Video-Oasis"
CODE = "https://github.com/sejong-rcv/Video-Oasis"
ANNOTATIONS, CHALLENGES = "data/benchmarks/annos", "src/lmms_eval/video_oasis.json"
# The authors' name of each open set, and its folder.
SETS = {
    "egoschema": "egoschema",
    "LongVideoBench": "longvideobench",
    "LVBench": "lvbench",
    "MLVU_Test": "mlvu_test",
    "MVBench": "mvbench",
    "TVBench": "tvbench",
    "Video-Holmes": "video-holmes",
    "Video-MME": "video-mme",
    "VSI-Bench": "vsi-bench",
}
OURS, RATIO = "Ours: nine open sets, without their videos", "Ours: what the list of video-native challenges removes"
SOURCES = (
    *(Source(f"{ANNOTATIONS}/{folder}", CODE, (OURS,)) for folder in SETS.values()),
    Source(CHALLENGES, CODE, (RATIO,)),
)
# The solver reads a sample of each set, so that nine sets take about two minutes of processor time.
ITEMS = 400
CLOSED = Caveat(
    "not given",
    "the sum over 14 sets: the command never opens ImplicitQA, MINERVA, MMR-V, RTV-Bench and VCR-Bench, so no file "
    "that you add gives this number",
)
MODELS_NEEDED = Caveat("needs weights", "the model with its videos; the command scores none on these sets")
UNPRINTED = "the paper draws this ratio without a number"
RATIOS = ("video-native", "shortcut-solvable, %")
FOLDER_NOTE = (
    "The authors' script run_merge.py asks for folders such as LVBench, but the repository has lvbench; only the "
    "folder egoschema has the name that it asks for, so the script leaves out the other sets."
)
TABLES_NOTE = (
    "The numbers are those of the project page and the README. Tables of the paper that neither has are not here."
)


def reproduce(sources: Path, work: Path, *, weights: Mapping[str, str], seed: int) -> Result:
    """Return every cell that the files in `sources` allow. `weights`: none, because no model runs."""
    check_weights(weights, ())
    folders = {name: path for name, folder in SETS.items() if (path := _files(sources / ANNOTATIONS / folder))}
    plan(len(folders))
    documents = audits(folders, work, seed, ITEMS)
    sizes = {name: int(document["items"]) for name, document in documents.items()}
    cells = [*audit_cells(OURS, documents), *_ratio_cells(sources / CHALLENGES, sizes), *_printed_cells()]
    sentences = [CONTRADICTION.format(sentence) for sentence in contradictions()]
    notes = [*sentences, TABLES_NOTE, FOLDER_NOTE]
    given_sources = {source.name: True for source in SOURCES if any(sources.glob(source.name))}
    return Result(PAPER, tuple(cells), (*notes, *audit_notes(documents)), missing_lines(SOURCES, given_sources))


def _files(folder: Path) -> Path | None:
    """Return the only file of a set's folder, or the folder of its files; None without it."""
    files = [path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl", ".parquet"}]
    if not files:
        return None
    return files[0] if len(files) == 1 else files[0].parent


def _ratio_cells(path: Path, sizes: Mapping[str, int]) -> Iterator[Cell]:
    """Yield how many questions of each open set are in the list of video-native challenges, and the share of others."""
    if not path.is_file():
        return
    # Rows of the closed sets are skipped by the name of their set.
    counts = Counter(row["db"] for row in json.loads(path.read_text(encoding="utf-8")) if row["db"] in SETS)
    for name, size in sizes.items():
        for column, number in zip(RATIOS, (counts[name], 100 * (1 - counts[name] / size)), strict=True):
            yield compare(RATIO, name, column, None, number, digits=1, why=UNPRINTED)


def _printed_cells() -> Iterator[Cell]:
    for name, table in TABLES.items():
        caveat = CLOSED if name == AUDIT else MODELS_NEEDED
        for row, column, paper in table.cells():
            yield compare(name, row, column, paper, None, digits=1, caveat=caveat)
