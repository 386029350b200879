"""Formats that `foilworks import` reads: slug -> row. A format is one file here and one row."""

from text.registry import Entry, Param

_SUBTEST = Param("subtest", "", "name of the subtest for records that carry none (default: the name of the file)")
_DATASET = Param("dataset", "", "data set that the videos are from, such as MSR-VTT (no such column is in the file)")
_PICTURE = "A still picture is a clip without a video file: its items are scored and reported, not shown."

IMPORTERS: dict[str, Entry] = {
    "jsonl": Entry(
        "JSON lines",
        "corpus.importers.jsonl",
        params=(_SUBTEST,),
        summary="One record a line: videos, captions, foils, proficiency pairs, vote counts. The general format.",
    ),
    "csv": Entry(
        "CSV table",
        "corpus.importers.csv_rows",
        params=(_SUBTEST,),
        summary="The columns of JSON lines as a table with a header: what a spreadsheet saves.",
    ),
    "vilma": Entry(
        "ViLMA / VALSE JSON",
        "corpus.importers.vilma",
        params=(_SUBTEST,),
        deviations=("Ids get the name of the file before them, since the published files number records alike.",),
        summary="The files of ViLMA and VALSE with their validation counts and proficiency pairs.",
    ),
    "valse": Entry(
        "VALSE JSON (pictures)",
        "corpus.importers.valse",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="The files of VALSE: captions and foils of still pictures with their validation counts.",
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "corpus.importers.contrast",
        params=(_SUBTEST, _DATASET),
        summary="Multiple choice of the contrast sets: clip, ending0 to ending4, label, perhaps c_label.",
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "corpus.importers.feint6k",
        params=(_SUBTEST, _DATASET),
        summary="video_id, sentence: six rows a video, the caption and its five counterfactuals.",
    ),
    "vitatecs": Entry(
        "VITATECS, JSON lines",
        "corpus.importers.vitatecs",
        params=(_SUBTEST,),
        summary="A caption of MSR-VTT or VATEX and one counterfactual a line; the aspect of time is the subtest.",
    ),
    "sugarcrepe": Entry(
        "SugarCrepe JSON (pictures)",
        "corpus.importers.sugarcrepe",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="filename, caption, negative_caption of still pictures; one file a kind of edit.",
    ),
    "foil-coco": Entry(
        "FOIL-COCO JSON (pictures)",
        "corpus.importers.foil_coco",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="Captions of COCO with the foils in which one noun was replaced.",
    ),
    "msrvtt": Entry(
        "MSR-VTT captions",
        "corpus.importers.msrvtt",
        params=(_SUBTEST,),
        summary="Captions to make foils for: the published JSON, or a split's table of video_id and sentence.",
    ),
    "vatex": Entry(
        "VATEX captions",
        "corpus.importers.vatex",
        params=(_SUBTEST, Param("captions", 0, "how many captions of each video are taken (0: all)", "int")),
        summary="English captions to make foils for.",
    ),
    "hf": Entry(
        "Data set folder (Parquet)",
        "corpus.importers.hf",
        params=(_SUBTEST,),
        summary="A folder of Parquet files in the columns of JSON lines, as `export hf` writes it.",
    ),
    "votes": Entry(
        "Votes, one a line",
        "corpus.importers.votes",
        summary="Raw judgements of a past study on items that are there: item, annotator, choice, position, foil.",
    ),
    "mturk": Entry(
        "MTurk results, CSV",
        "corpus.importers.mturk",
        params=(
            Param("item", "", "input column with the item's id (default: Input.item, Input.id)"),
            Param("answer", "", "answer column (default: Answer.choice), or the stem of its boolean columns"),
            Param("position", "", "input column that says where the caption stood (default: Input.position)"),
            Param("foil", "", "input column with the foil's place in the item (default: Input.foil)"),
        ),
        deviations=("Worker ids are stored under pseudonyms; rejected assignments are passed over.",),
        summary="The result file of a batch on Mechanical Turk: judgements on items that are there.",
    ),
    "utd": Entry(
        "UTD descriptions or splits",
        "corpus.importers.utd",
        deviations=("The authors' pickles are not opened, since a pickle may run a program: save them as JSON.",),
        summary="Frame by frame descriptions of videos that are there, splits, or predictions of nine models.",
    ),
}

# What the name of a file says of its format; other endings are of several.
BY_ENDING = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}

# What people write by hand, or a published table looks like: the first lines of a file that is taken as it stands.
EXAMPLES = {
    "csv": (
        "id,video,caption,foil\n1,cup.mp4,A hand lifts a cup.,A hand drops a cup.\n2,door.mp4,A man opens a door.,\n"
    ),
    "jsonl": (
        '{"id": "1", "video": "cup.mp4", "caption": "A hand lifts a cup.", "foil": "A hand drops a cup."}\n'
        '{"id": "2", "video": "door.mp4", "caption": "A man opens a door."}\n'
    ),
    "contrast": (
        "clip\tending0\tending1\tending2\tlabel\n"
        "door.mp4\tA man opens a door.\tA man closes a door.\tA man paints a door.\t0\n"
    ),
    "msrvtt": "video_id,sentence\nvideo7010,a girl is singing on stage\nvideo7010,a woman sings a song\n",
    "votes": ("item,annotator,choice\n1,ann,caption\n1,ben,foil\n"),
}
