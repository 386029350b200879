"""Formats that `foilworks import` reads: slug -> row. A format is one file here and one row."""

from text.plugins import Registry
from text.registry import Entry, Param

_SUBTEST = Param("subtest", "", "name of the subtest for records without one (default: the name of the file)")
_DATASET = Param("dataset", "", "data set that the videos are from, such as MSR-VTT (no such column is in the file)")
_PICTURE = "A still image is a clip without a video file: its items are scored and reported, but not shown."

_IMPORTERS: dict[str, Entry] = {
    "jsonl": Entry(
        "JSON lines",
        "corpus.importers.jsonl",
        params=(_SUBTEST,),
        summary="The general format, one record per line: videos, captions, foils, proficiency pairs, vote counts.",
    ),
    "csv": Entry(
        "CSV table",
        "corpus.importers.csv_rows",
        params=(_SUBTEST,),
        summary="The columns of JSON lines as a table with a header, as a spreadsheet saves it.",
    ),
    "vilma": Entry(
        "ViLMA / VALSE JSON",
        "corpus.importers.vilma",
        params=(_SUBTEST,),
        deviations=("Ids start with the name of the file, because the published files reuse the same numbers.",),
        summary="The files of ViLMA and VALSE with their validation counts and proficiency pairs.",
    ),
    "valse": Entry(
        "VALSE JSON (images)",
        "corpus.importers.valse",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="The files of VALSE: captions and foils of still images with their validation counts.",
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "corpus.importers.contrast",
        params=(_SUBTEST, _DATASET),
        summary="Multiple choice of the contrast sets: clip, ending0 to ending4, label, optionally c_label.",
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "corpus.importers.feint6k",
        params=(_SUBTEST, _DATASET),
        summary="video_id, sentence: six rows per video, the caption and its five counterfactuals.",
    ),
    "vitatecs": Entry(
        "VITATECS, JSON lines",
        "corpus.importers.vitatecs",
        params=(_SUBTEST,),
        summary="A caption of MSR-VTT or VATEX and one counterfactual per line; the temporal aspect is the subtest.",
    ),
    "sugarcrepe": Entry(
        "SugarCrepe JSON (images)",
        "corpus.importers.sugarcrepe",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="filename, caption, negative_caption of still images; one file per kind of edit.",
    ),
    "winoground": Entry(
        "Winoground, JSON lines (images)",
        "corpus.importers.winoground",
        params=(_SUBTEST,),
        deviations=(_PICTURE, "Each example becomes two items, one for each image, with a shared pair name."),
        summary="Two captions and two still images per example, each caption true of one image.",
    ),
    "vinoground": Entry(
        "Vinoground CSV",
        "corpus.importers.vinoground",
        params=(_SUBTEST,),
        deviations=("Each row becomes two items, one for each clip, with a shared pair name.",),
        summary="index, major, minor, pos_cap, neg_cap: two captions and two clips per row.",
    ),
    "foil-coco": Entry(
        "FOIL-COCO JSON (images)",
        "corpus.importers.foil_coco",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="Captions of COCO with foils in which one noun was replaced.",
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
        params=(_SUBTEST, Param("captions", 0, "max captions per video (0: all)", "int")),
        summary="English captions to make foils for.",
    ),
    "hf": Entry(
        "Data set folder (Parquet)",
        "corpus.importers.hf",
        params=(_SUBTEST,),
        summary="A folder of Parquet files in the columns of JSON lines, as `export hf` writes it.",
    ),
    "votes": Entry(
        "Votes, one per line",
        "corpus.importers.votes",
        summary="Raw judgements of a past study on existing items: item, annotator, choice, position, foil.",
    ),
    "mturk": Entry(
        "MTurk results, CSV",
        "corpus.importers.mturk",
        params=(
            Param("item", "", "input column with the item's id (default: Input.item, Input.id)"),
            Param("answer", "", "answer column (default: Answer.choice), or the stem of its boolean columns"),
            Param("position", "", "input column with the caption's position (default: Input.position)"),
            Param("foil", "", "input column with the foil's place in the item (default: Input.foil)"),
        ),
        deviations=("Worker ids are stored under pseudonyms; rejected assignments are skipped.",),
        summary="The result file of a batch on Mechanical Turk: judgements on existing items.",
    ),
    "utd": Entry(
        "UTD descriptions or splits",
        "corpus.importers.utd",
        deviations=("The authors' pickles are not opened, because a pickle can run a program. Save them as JSON.",),
        summary="Frame-by-frame descriptions of existing videos, splits, or predictions of nine models.",
    ),
}
IMPORTERS = Registry("importers", _IMPORTERS)

# The formats that a file's ending identifies; several formats share other endings.
BY_ENDING = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}

# What people write by hand, or a published file looks like: a small one that is taken as it stands. A folder has none.
EXAMPLES = {
    "csv": (
        "id,video,caption,foil\n1,cup.mp4,A hand lifts a cup.,A hand drops a cup.\n2,door.mp4,A man opens a door.,\n"
    ),
    "jsonl": (
        '{"id": "1", "video": "cup.mp4", "caption": "A hand lifts a cup.", "foil": "A hand drops a cup."}\n'
        '{"id": "2", "video": "door.mp4", "caption": "A man opens a door."}\n'
    ),
    "vilma": (
        '{"1": {"video_file": "door.mp4", "start_time": 2.0, "end_time": 6.5, "time_unit": "sec",\n'
        '       "caption": "A man opens a door.", "foils": ["A man closes a door."],\n'
        '       "proficiency": {"caption": "There is a door.", "foil": "There is a lamp."},\n'
        '       "mturk": {"caption": 3, "foil": 0, "other": 0}}}\n'
    ),
    "valse": (
        '{"1": {"image_file": "park.jpg", "caption": "There are no people.", "foil": "There are people.",\n'
        '       "mturk": {"caption": 3, "foil": 0, "other": 0}}}\n'
    ),
    "contrast": (
        "clip\tending0\tending1\tending2\tlabel\n"
        "door.mp4\tA man opens a door.\tA man closes a door.\tA man paints a door.\t0\n"
    ),
    "feint6k": (
        "video_id,sentence\n"
        "video7,a man folds a shirt\n"
        "video7,a man irons a shirt\n"
        "video7,a man tears a shirt\n"
        "video7,a man washes a shirt\n"
        "video7,a man buttons a shirt\n"
        "video7,a man throws a shirt\n"
    ),
    "vitatecs": (
        '{"src_dataset": "MSRVTT", "video_name": "video7010", "aspect": "Direction", '
        '"caption": "a man walks towards a car", "counterfactual": "a man walks away from a car"}\n'
    ),
    "sugarcrepe": (
        '{"0": {"filename": "000000085329.jpg", "caption": "A cat sits on a chair.",\n'
        '       "negative_caption": "A chair stands on a cat."}}\n'
    ),
    "winoground": (
        '{"id": 0, "caption_0": "a dog chases a cat", "caption_1": "a cat chases a dog", '
        '"image_0": "ex_0_img_0", "image_1": "ex_0_img_1", "tag": "Noun"}\n'
    ),
    "vinoground": (
        "index,major,minor,pos_cap,neg_cap\n"
        "0,action,human,a man eats before he sits down,a man sits down before he eats\n"
    ),
    "foil-coco": (
        '{"images": [{"id": 7, "file_name": "000000000007.jpg"}],\n'
        ' "annotations": [{"id": 1, "image_id": 7, "caption": "A cat on a chair.", "foil": false},\n'
        '                 {"id": 1, "image_id": 7, "caption": "A dog on a chair.", "foil": true,\n'
        '                  "target_word": "cat", "foil_word": "dog"}]}\n'
    ),
    "vatex": '[{"videoID": "Ptf_2VRj-V0_000122_000132", "enCap": ["A man cuts a melon.", "Someone slices fruit."]}]\n',
    "msrvtt": "video_id,sentence\nvideo7010,a girl is singing on stage\nvideo7010,a woman sings a song\n",
    "votes": "item,annotator,choice\n1,ann,caption\n1,ben,foil\n",
    "mturk": (
        "WorkerId,AssignmentStatus,Input.item,Input.position,Answer.choice\n"
        "A1,Approved,1,2,second\n"
        "A2,Approved,1,2,neither\n"
    ),
    "utd": '{"door.mp4": {"objects": ["a door, a man", "an open door"], "activities": ["a man", "he opens it"]}}\n',
}
