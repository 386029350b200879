"""Formats that `foilworks import` reads: slug -> row. A format is one row: a module here, or a `Format` in one."""

from foilworks.core.corpus.records import BadRecord, ItemRecord, RecordWarning, TakenColumns
from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry, Param

# Kinds of formats, by which the page groups them; a row without one is a general format.
CAPTIONS, VIDEOS, BENCHMARK, ABOUT_ITEMS = "captions", "videos", "benchmark", "about items"

_SUBTEST = Param("subtest", "", "name of the subtest for records without one (default: the name of the file)")
_DATASET = Param("dataset", "", "data set that the videos are from, such as MSR-VTT (no such column is in the file)")
_SPLIT = Param("split", "", "split of the videos: train, val or test (default: as the file's name says)")
_SEED = Param("seed", 0, "seed; the same seed makes the same choice", "int")
_PICTURE = "A still image is a clip without a video file: its items are scored and reported, but not shown."
_QUESTION = "The texts of an item are the question with each option: Q: QUESTION A: OPTION."
_TWO_ITEMS = "Each record becomes two items, because it has two true captions; facts.group joins them."


def _by_recipe(name: str) -> tuple[Param, ...]:
    """Return the parameters of a format that only renames columns: the table's, with the recipe that it reads by."""
    return (
        Param("subtest", "", "name of the subtest of all records (default: as the file says)"),
        Param("recipe", name, "name of the recipe that says what each column is"),
    )


_IMPORTERS: dict[str, Entry] = {
    "jsonl": Entry(
        "JSON lines",
        "foilworks.core.corpus.import_formats.jsonl",
        params=(_SUBTEST,),
        summary="The general format, one record per line: videos, captions, foils, proficiency pairs, vote counts.",
    ),
    "csv": Entry(
        "CSV table",
        "foilworks.core.corpus.import_formats.csv_rows",
        params=(_SUBTEST,),
        summary="The columns of JSON lines as a table with a header, as a spreadsheet saves it.",
    ),
    "table": Entry(
        "Any table",
        "foilworks.core.corpus.import_formats.table",
        params=(
            _SUBTEST,
            _DATASET,
            Param("recipe", "", "name of a recipe that comes with Foilworks, such as coin"),
            Param("mapping", {}, "what each column is, as a recipe in JSON", "json"),
        ),
        summary="CSV, TSV, JSON lines, JSON or Parquet with columns of any names: you say what each column is.",
    ),
    "vilma": Entry(
        "ViLMA / VALSE JSON",
        "foilworks.core.corpus.import_formats.vilma",
        params=(_SUBTEST,),
        deviations=("Ids start with the name of the file, because the published files reuse the same numbers.",),
        summary="The files of ViLMA and VALSE with their validation counts and proficiency pairs.",
        kind=BENCHMARK,
    ),
    "valse": Entry(
        "VALSE JSON (images)",
        "foilworks.core.corpus.import_formats.valse",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="The files of VALSE: captions and foils of still images with their validation counts.",
        kind=BENCHMARK,
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "foilworks.core.corpus.import_formats.choice_sets:CONTRAST",
        params=(
            _SUBTEST,
            _DATASET,
            Param("made_by", "", "who wrote the hard foils (default: unknown)", "choice", ("", "machine", "person")),
        ),
        summary="Multiple choice of the contrast sets: clip, ending0 to ending4, label, optionally c_label.",
        kind=BENCHMARK,
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "foilworks.core.corpus.import_formats.choice_sets:FEINT6K",
        params=(_SUBTEST, _DATASET),
        summary="video_id, sentence: six rows per video, the caption and its five counterfactuals.",
        kind=BENCHMARK,
    ),
    "vitatecs": Entry(
        "VITATECS, JSON lines",
        "foilworks.core.corpus.import_formats.table",
        params=_by_recipe("vitatecs"),
        summary="A caption of MSR-VTT or VATEX and one counterfactual per line; the temporal aspect is the subtest.",
        kind=BENCHMARK,
    ),
    "sugarcrepe": Entry(
        "SugarCrepe JSON (images)",
        "foilworks.core.corpus.import_formats.table",
        params=_by_recipe("sugarcrepe"),
        deviations=(_PICTURE,),
        summary="filename, caption, negative_caption of still images; one file per kind of edit.",
        kind=BENCHMARK,
    ),
    "winoground": Entry(
        "Winoground, JSON lines (images)",
        "foilworks.core.corpus.import_formats.pair_sets:WINOGROUND",
        params=(_SUBTEST,),
        deviations=(_PICTURE, "Each example becomes two items, one for each image, with a shared pair name."),
        summary="Two captions and two still images per example, each caption true of one image.",
    ),
    "vinoground": Entry(
        "Vinoground CSV",
        "foilworks.core.corpus.import_formats.pair_sets:VINOGROUND",
        params=(_SUBTEST,),
        deviations=("Each row becomes two items, one for each clip, with a shared pair name.",),
        summary="index, major, minor, pos_cap, neg_cap: two captions and two clips per row.",
    ),
    "foil-coco": Entry(
        "FOIL-COCO JSON (images)",
        "foilworks.core.corpus.import_formats.choice_sets:FOIL_COCO",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="Captions of COCO with foils in which one noun was replaced.",
        kind=BENCHMARK,
    ),
    "msrvtt": Entry(
        "MSR-VTT captions",
        "foilworks.core.corpus.import_formats.msrvtt",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for (published JSON, or a split's table), or the multiple-choice list.",
        kind=CAPTIONS,
    ),
    "vatex": Entry(
        "VATEX captions",
        "foilworks.core.corpus.import_formats.caption_sets:VATEX",
        params=(_SUBTEST, _SPLIT, Param("captions", 0, "max captions per video (0: all)", "int")),
        summary="English captions to make foils for.",
        kind=CAPTIONS,
    ),
    "ssv2": Entry(
        "Something-Something v2 labels",
        "foilworks.core.corpus.import_formats.caption_sets:SSV2",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for: id, label, template, placeholders.",
        kind=CAPTIONS,
    ),
    "vidsitu": Entry(
        "VidSitu annotations",
        "foilworks.core.corpus.import_formats.vidsitu",
        params=(
            _SUBTEST,
            _SPLIT,
            Param(
                "clip",
                "segment",
                "the ten-second segment, or the two seconds of the event",
                "choice",
                ("segment", "event"),
            ),
        ),
        deviations=(
            (
                "ViLMA does not state its rule for raw sentences. Ours: first core argument, verb in the present, "
                "other arguments in their order, without the scene."
            ),
        ),
        summary="Raw sentences of semantic roles to make foils for: verb, arguments, one record per event.",
        kind=CAPTIONS,
    ),
    "rareact": Entry(
        "RareAct table",
        "foilworks.core.corpus.import_formats.caption_sets:RAREACT",
        params=(
            _SUBTEST,
            Param("annotation", "1", "which rows to read: 1 positive; 2, 3, 4 hard negatives; 0 negative"),
        ),
        summary="“cutting a keyboard” to make foils for: verb and noun of the positive segments.",
        kind=CAPTIONS,
    ),
    "quva": Entry(
        "QUVA repetitions",
        "foilworks.core.corpus.import_formats.quva",
        params=(
            _SUBTEST,
            Param(
                "counts",
                "all",
                "counts of the captions: easy up to the threshold, difficult above it",
                "choice",
                ("all", "easy", "difficult"),
            ),
            Param("threshold", 3, "largest count of easy captions (ViLMA: 3)", "int"),
            Param("max", 10, "largest count (ViLMA: 10)", "int"),
            Param("per_video", 0, "windows per video (ViLMA: 10); 0: all", "int"),
            Param(
                "foils", "none", "published: a foil count drawn by frequency, as ViLMA", "choice", ("none", "published")
            ),
            Param("style", "words", "how to write the count: three, or 3", "choice", ("words", "digits")),
            Param(
                "annotations",
                "annotations",
                "folder of the frame lists beside the file",
                "choice",
                ("annotations", "normalized_annotations"),
            ),
            _SEED,
        ),
        deviations=(
            "The published code draws with NumPy, we with Python, so the same seed draws different windows.",
            "Without singular templates, windows of one repetition are left out.",
        ),
        summary="Counting captions for windows of repetitions: ViLMA's templates with the frames of QUVA.",
        kind=CAPTIONS,
    ),
    "lsmdc": Entry(
        "LSMDC annotations",
        "foilworks.core.corpus.import_formats.lsmdc",
        params=(
            _SUBTEST,
            _SPLIT,
            Param(
                "splits",
                "published",
                "within_movies: 80/10/10 % of each movie's clips",
                "choice",
                ("published", "within_movies"),
            ),
            _SEED,
        ),
        summary="Captions of movie clips to make foils for, with the characters of a list beside the file.",
        kind=CAPTIONS,
    ),
    "activitynet": Entry(
        "ActivityNet Captions",
        "foilworks.core.corpus.import_formats.caption_sets:ACTIVITYNET",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for: each sentence with its part of the video.",
        kind=CAPTIONS,
    ),
    "didemo": Entry(
        "DiDeMo descriptions",
        "foilworks.core.corpus.import_formats.caption_sets:DIDEMO",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for: each description with the moment that most annotators marked.",
        kind=CAPTIONS,
    ),
    "kinetics": Entry(
        "Kinetics video list",
        "foilworks.core.corpus.import_formats.video_sets:KINETICS",
        params=(_DATASET, _SPLIT),
        summary="Videos without captions, with class and split: label, youtube_id, time_start, time_end.",
        kind=VIDEOS,
    ),
    "video-list": Entry(
        "Video list with classes",
        "foilworks.core.corpus.import_formats.video_list",
        params=(
            _DATASET,
            _SPLIT,
            Param("classes", "", "file with the names of the classes, for lists that only number them"),
        ),
        summary="Videos without captions: a table of path, class and split, or lines PATH CLASS (mmaction, Kinetics).",
        kind=VIDEOS,
    ),
    "ucf101": Entry(
        "UCF101 video list",
        "foilworks.core.corpus.import_formats.video_sets:UCF101",
        params=(_SPLIT,),
        summary="Videos without captions, with class and split: a train or test list.",
        kind=VIDEOS,
    ),
    "moments": Entry(
        "Moments in Time video list",
        "foilworks.core.corpus.import_formats.video_sets:MOMENTS",
        params=(_SPLIT,),
        summary="Videos without captions, with class and split: file name, class.",
        kind=VIDEOS,
    ),
    "hf": Entry(
        "Data set folder (Parquet)",
        "foilworks.core.corpus.import_formats.hf",
        params=(_SUBTEST,),
        summary="A folder of Parquet files in the columns of JSON lines, as `export hf` writes it.",
    ),
    "votes": Entry(
        "Votes, one per line",
        "foilworks.core.corpus.import_formats.votes",
        summary="Raw judgements of a past study on existing items: item, annotator, choice, position, foil.",
        kind=ABOUT_ITEMS,
    ),
    "mturk": Entry(
        "MTurk results, CSV",
        "foilworks.core.corpus.import_formats.mturk",
        params=(
            Param("item", "", "input column with the item's id (default: Input.item, Input.id)"),
            Param("answer", "", "answer column (default: Answer.choice), or the stem of its boolean columns"),
            Param("position", "", "input column with the caption's position (default: Input.position)"),
            Param("foil", "", "input column with the foil's place in the item (default: Input.foil)"),
        ),
        deviations=("Worker ids are stored under pseudonyms; rejected assignments are skipped.",),
        summary="The result file of a batch on Mechanical Turk: judgements on existing items.",
        kind=ABOUT_ITEMS,
    ),
    "utd": Entry(
        "UTD descriptions or splits",
        "foilworks.core.corpus.import_formats.utd",
        deviations=("The authors' pickles are not opened, because a pickle can run a program. Save them as JSON.",),
        summary="Frame-by-frame descriptions of existing videos, splits, or predictions of nine models.",
        kind=ABOUT_ITEMS,
    ),
    # Published benchmarks: questions with options, and captions with contrast captions.
    "nextqa": Entry(
        "NExT-QA multiple choice, CSV",
        "foilworks.core.corpus.import_formats.table",
        params=_by_recipe("nextqa"),
        deviations=(_QUESTION,),
        summary="video, question, answer, qid, type, a0 to a4; the type of the question is the subtest.",
        kind=BENCHMARK,
    ),
    "mvbench": Entry(
        "MVBench JSON",
        "foilworks.core.corpus.import_formats.table",
        params=_by_recipe("mvbench"),
        deviations=(_QUESTION,),
        summary="video, question, candidates, answer, start, end; one file per task.",
        kind=BENCHMARK,
    ),
    "video-mme": Entry(
        "Video-MME JSON",
        "foilworks.core.corpus.import_formats.table",
        params=_by_recipe("video-mme"),
        deviations=(_QUESTION, "Subtitles are not imported."),
        summary="Questions with lettered options; the task type is the subtest. JSON or JSON lines.",
        kind=BENCHMARK,
    ),
    "seed-bench": Entry(
        "SEED-Bench JSON (images and videos)",
        "foilworks.core.corpus.import_formats.question_sets:SEED_BENCH",
        params=(Param("part", "all", "questions to import", "choice", choices=("all", "video", "image")),),
        deviations=(_QUESTION, _PICTURE),
        summary="Questions with four options about an image or a video; the evaluation dimension is the subtest.",
        kind=BENCHMARK,
    ),
    "tempcompass": Entry(
        "TempCompass JSON",
        "foilworks.core.corpus.import_formats.question_sets:TEMPCOMPASS",
        params=(_SUBTEST,),
        deviations=(_QUESTION, "The task captioning is refused, because it asks for a new text."),
        summary="The tasks multi-choice, yes_no and caption_matching; one file per task.",
        kind=BENCHMARK,
    ),
    "timeblind": Entry(
        "TimeBlind JSON lines",
        "foilworks.core.corpus.import_formats.question_sets:TIMEBLIND",
        params=(_SUBTEST,),
        deviations=(_QUESTION,),
        summary="Two questions about two clips each, yes or no or A or B; scored as sets of four answers.",
        kind=BENCHMARK,
    ),
    "videocon": Entry(
        "VideoCon CSV",
        "foilworks.core.corpus.import_formats.question_sets:VIDEOCON",
        params=(_SUBTEST,),
        summary="caption, neg_caption of a video, with the kind of misalignment; or the five statements of ATP-Hard.",
        kind=BENCHMARK,
    ),
    "sugarcrepe-pp": Entry(
        "SugarCrepe++ JSON (images)",
        "foilworks.core.corpus.import_formats.table",
        params=_by_recipe("sugarcrepe-pp"),
        deviations=(_TWO_ITEMS, _PICTURE),
        summary="Two true captions and one negative of a still image; one file per kind of edit.",
        kind=BENCHMARK,
    ),
    "bla": Entry(
        "BLA JSON (images)",
        "foilworks.core.corpus.import_formats.pair_sets:BLA",
        params=(_SUBTEST,),
        deviations=(_TWO_ITEMS, _PICTURE),
        summary="Two true and two false sentences of a still image; one file per task.",
        kind=BENCHMARK,
    ),
    "eqben": Entry(
        "EqBen JSON (images)",
        "foilworks.core.corpus.import_formats.pair_sets:EQBEN",
        params=(_SUBTEST,),
        deviations=(_TWO_ITEMS, _PICTURE),
        summary="image0, caption0, image1, caption1: two similar pictures with their captions.",
        kind=BENCHMARK,
    ),
}
_CONTRACT = Contract(
    {"read": Call(("path",), ("params",), yields=(ItemRecord, BadRecord, RecordWarning, TakenColumns))},
    defaults={"YIELDS": "items"},
    choices={"YIELDS": {"items", "videos"}},
)
IMPORTERS = Registry("importers", _IMPORTERS, _CONTRACT)

# The formats that a file's ending identifies; several formats share other endings.
BY_ENDING = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
