"""Formats that `foilworks import` reads: slug -> row. A format is one file here and one row."""

from text.plugins import Registry
from text.registry import Entry, Param

# Kinds of formats, by which the page groups them; a row without one is a general format.
CAPTIONS, BENCHMARK, ABOUT_ITEMS = "captions", "benchmark", "about items"

_SUBTEST = Param("subtest", "", "name of the subtest for records without one (default: the name of the file)")
_DATASET = Param("dataset", "", "data set that the videos are from, such as MSR-VTT (no such column is in the file)")
_PICTURE = "A still image is a clip without a video file: its items are scored and reported, but not shown."
_QUESTION = "The texts of an item are the question with each option: Q: QUESTION A: OPTION."
_TWO_ITEMS = "Each record becomes two items, because it has two true captions; facts.group joins them."

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
        kind=BENCHMARK,
    ),
    "valse": Entry(
        "VALSE JSON (images)",
        "corpus.importers.valse",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="The files of VALSE: captions and foils of still images with their validation counts.",
        kind=BENCHMARK,
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "corpus.importers.contrast",
        params=(_SUBTEST, _DATASET),
        summary="Multiple choice of the contrast sets: clip, ending0 to ending4, label, optionally c_label.",
        kind=BENCHMARK,
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "corpus.importers.feint6k",
        params=(_SUBTEST, _DATASET),
        summary="video_id, sentence: six rows per video, the caption and its five counterfactuals.",
        kind=BENCHMARK,
    ),
    "vitatecs": Entry(
        "VITATECS, JSON lines",
        "corpus.importers.vitatecs",
        params=(_SUBTEST,),
        summary="A caption of MSR-VTT or VATEX and one counterfactual per line; the temporal aspect is the subtest.",
        kind=BENCHMARK,
    ),
    "sugarcrepe": Entry(
        "SugarCrepe JSON (images)",
        "corpus.importers.sugarcrepe",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="filename, caption, negative_caption of still images; one file per kind of edit.",
        kind=BENCHMARK,
    ),
    "foil-coco": Entry(
        "FOIL-COCO JSON (images)",
        "corpus.importers.foil_coco",
        params=(_SUBTEST,),
        deviations=(_PICTURE,),
        summary="Captions of COCO with foils in which one noun was replaced.",
        kind=BENCHMARK,
    ),
    "msrvtt": Entry(
        "MSR-VTT captions",
        "corpus.importers.msrvtt",
        params=(_SUBTEST,),
        summary="Captions to make foils for: the published JSON, or a split's table of video_id and sentence.",
        kind=CAPTIONS,
    ),
    "vatex": Entry(
        "VATEX captions",
        "corpus.importers.vatex",
        params=(_SUBTEST, Param("captions", 0, "max captions per video (0: all)", "int")),
        summary="English captions to make foils for.",
        kind=CAPTIONS,
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
        kind=ABOUT_ITEMS,
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
        kind=ABOUT_ITEMS,
    ),
    "utd": Entry(
        "UTD descriptions or splits",
        "corpus.importers.utd",
        deviations=("The authors' pickles are not opened, because a pickle can run a program. Save them as JSON.",),
        summary="Frame-by-frame descriptions of existing videos, splits, or predictions of nine models.",
        kind=ABOUT_ITEMS,
    ),
    # Published benchmarks: questions with options, and captions with contrast captions.
    "nextqa": Entry(
        "NExT-QA multiple choice, CSV",
        "corpus.importers.nextqa",
        params=(_SUBTEST,),
        deviations=(_QUESTION,),
        summary="video, question, answer, qid, type, a0 to a4; the type of the question is the subtest.",
        kind=BENCHMARK,
    ),
    "mvbench": Entry(
        "MVBench JSON",
        "corpus.importers.mvbench",
        params=(_SUBTEST,),
        deviations=(_QUESTION,),
        summary="video, question, candidates, answer, start, end; one file per task.",
        kind=BENCHMARK,
    ),
    "video-mme": Entry(
        "Video-MME JSON",
        "corpus.importers.video_mme",
        params=(_SUBTEST,),
        deviations=(_QUESTION, "Subtitles are not imported."),
        summary="Questions with lettered options; the task type is the subtest. JSON or JSON lines.",
        kind=BENCHMARK,
    ),
    "seed-bench": Entry(
        "SEED-Bench JSON (images and videos)",
        "corpus.importers.seed_bench",
        params=(Param("part", "all", "questions to import", "choice", choices=("all", "video", "image")),),
        deviations=(_QUESTION, _PICTURE),
        summary="Questions with four options about an image or a video; the evaluation dimension is the subtest.",
        kind=BENCHMARK,
    ),
    "tempcompass": Entry(
        "TempCompass JSON",
        "corpus.importers.tempcompass",
        params=(_SUBTEST,),
        deviations=(_QUESTION, "The task captioning is refused, because it asks for a new text."),
        summary="The tasks multi-choice, yes_no and caption_matching; one file per task.",
        kind=BENCHMARK,
    ),
    "videocon": Entry(
        "VideoCon CSV",
        "corpus.importers.videocon",
        params=(_SUBTEST,),
        summary="caption, neg_caption of a video, with the kind of misalignment; or the five statements of ATP-Hard.",
        kind=BENCHMARK,
    ),
    "sugarcrepe-pp": Entry(
        "SugarCrepe++ JSON (images)",
        "corpus.importers.sugarcrepe_pp",
        params=(_SUBTEST,),
        deviations=(_TWO_ITEMS, _PICTURE),
        summary="Two true captions and one negative of a still image; one file per kind of edit.",
        kind=BENCHMARK,
    ),
    "bla": Entry(
        "BLA JSON (images)",
        "corpus.importers.bla",
        params=(_SUBTEST,),
        deviations=(_TWO_ITEMS, _PICTURE),
        summary="Two true and two false sentences of a still image; one file per task.",
        kind=BENCHMARK,
    ),
    "eqben": Entry(
        "EqBen JSON (images)",
        "corpus.importers.eqben",
        params=(_SUBTEST,),
        deviations=(_TWO_ITEMS, _PICTURE),
        summary="image0, caption0, image1, caption1: two similar pictures with their captions.",
        kind=BENCHMARK,
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
    "nextqa": (
        "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
        "2435100,369,640,480,how does the boy open the box,2,6,CH,kick it,cut it,pull the ribbon,shake it,ask\n"
    ),
    "mvbench": (
        '[{"video": "AB12C.mp4", "question": "What happened after the person closed the door?",\n'
        '  "candidates": ["Sat on the sofa.", "Washed the table."], "answer": "Washed the table.",\n'
        '  "start": 2.1, "end": 9.6}]\n'
    ),
    "video-mme": (
        '[{"video_id": "001", "duration": "short", "domain": "Knowledge", "sub_category": "Geography",\n'
        '  "questions": [{"question_id": "001-1", "task_type": "Counting Problem",\n'
        '                 "question": "How many boats are on the lake?",\n'
        '                 "options": ["A. One.", "B. Two.", "C. Three.", "D. Four."], "answer": "C"}]}]\n'
    ),
    "seed-bench": (
        '{"questions": [{"question_id": "v1738", "question_type_id": 10, "data_type": "video",\n'
        '                "data_id": "94328.webm", "question": "What is done in the video?", "answer": "B",\n'
        '                "choice_a": "lifting a cup", "choice_b": "tilting a cup",\n'
        '                "choice_c": "filling a cup", "choice_d": "hiding a cup"}],\n'
        ' "question_type": {"Action Recognition": 10}}\n'
    ),
    "tempcompass": (
        '{"1034419": {"direction": [{"question": "Where does the man move?\\nA. left\\nB. right", '
        '"answer": "B. right"}]}}\n'
    ),
    "videocon": (
        "source,videopath,caption,neg_caption,split,misalignment\n"
        "msrvtt,videos/video7.mp4,a man folds a shirt,a man tears a shirt,test,action\n"
    ),
    "sugarcrepe-pp": (
        '[{"id": 0, "filename": "000000085329.jpg", "caption": "A cat sits on a chair.",\n'
        '  "caption2": "A chair has a cat on it.", "negative_caption": "A chair stands on a cat."}]\n'
    ),
    "bla": (
        '[{"image_id": "2356959", "caption_group": [{"True1": "the man holds a cup",\n'
        '   "True2": "the girl eats an apple",\n'
        '   "False1": "the man eats an apple", "False2": "the girl holds a cup"}]}]\n'
    ),
    "eqben": (
        '[{"image0": "kubric/1_0.png", "caption0": "The ball is left of the box.",\n'
        '  "image1": "kubric/1_1.png", "caption1": "The ball is behind the box."}]\n'
    ),
}
