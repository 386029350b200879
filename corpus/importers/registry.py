"""Formats that `foilworks import` reads: slug -> row. A format is one file here and one row."""

from text.plugins import Registry
from text.registry import Entry, Param

# Kinds of formats, by which the page groups them; a row without one is a general format.
CAPTIONS, VIDEOS, BENCHMARK, ABOUT_ITEMS = "captions", "videos", "benchmark", "about items"

_SUBTEST = Param("subtest", "", "name of the subtest for records without one (default: the name of the file)")
_DATASET = Param("dataset", "", "data set that the videos are from, such as MSR-VTT (no such column is in the file)")
_SPLIT = Param("split", "", "split of the videos: train, val or test (default: as the file's name says)")
_SEED = Param("seed", 0, "seed; the same seed makes the same choice", "int")
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
    "table": Entry(
        "Any table",
        "corpus.importers.table",
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
        kind=BENCHMARK,
    ),
    "msrvtt": Entry(
        "MSR-VTT captions",
        "corpus.importers.msrvtt",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for (published JSON, or a split's table), or the multiple-choice list.",
        kind=CAPTIONS,
    ),
    "vatex": Entry(
        "VATEX captions",
        "corpus.importers.vatex",
        params=(_SUBTEST, _SPLIT, Param("captions", 0, "max captions per video (0: all)", "int")),
        summary="English captions to make foils for.",
        kind=CAPTIONS,
    ),
    "ssv2": Entry(
        "Something-Something v2 labels",
        "corpus.importers.ssv2",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for: id, label, template, placeholders.",
        kind=CAPTIONS,
    ),
    "vidsitu": Entry(
        "VidSitu annotations",
        "corpus.importers.vidsitu",
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
        "corpus.importers.rareact",
        params=(
            _SUBTEST,
            Param("annotation", "1", "which rows to read: 1 positive; 2, 3, 4 hard negatives; 0 negative"),
        ),
        summary="“cutting a keyboard” to make foils for: verb and noun of the positive segments.",
        kind=CAPTIONS,
    ),
    "quva": Entry(
        "QUVA repetitions",
        "corpus.importers.quva",
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
        "corpus.importers.lsmdc",
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
        "corpus.importers.activitynet",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for: each sentence with its part of the video.",
        kind=CAPTIONS,
    ),
    "didemo": Entry(
        "DiDeMo descriptions",
        "corpus.importers.didemo",
        params=(_SUBTEST, _SPLIT),
        summary="Captions to make foils for: each description with the moment that most annotators marked.",
        kind=CAPTIONS,
    ),
    "kinetics": Entry(
        "Kinetics video list",
        "corpus.importers.kinetics",
        params=(_DATASET, _SPLIT),
        summary="Videos without captions, with class and split: label, youtube_id, time_start, time_end.",
        kind=VIDEOS,
    ),
    "ucf101": Entry(
        "UCF101 video list",
        "corpus.importers.ucf101",
        params=(_SPLIT,),
        summary="Videos without captions, with class and split: a train or test list.",
        kind=VIDEOS,
    ),
    "moments": Entry(
        "Moments in Time video list",
        "corpus.importers.moments",
        params=(_SPLIT,),
        summary="Videos without captions, with class and split: file name, class.",
        kind=VIDEOS,
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
    "table": (
        "clip_path,sentence,negative_1,negative_2\n"
        "cup.mp4,A hand lifts a cup.,A hand drops a cup.,A hand fills a cup.\n"
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
    "ssv2": (
        '[{"id": "74225", "label": "spinning a cube that quickly stops spinning",\n'
        '  "template": "Spinning [something] that quickly stops spinning", "placeholders": ["a cube"]}]\n'
    ),
    "vidsitu": (
        '[{"Ev1": {"Verb": "open (make open)", "VerbID": "open.01", "vid_seg_int": "v_abc_seg_10_20",\n'
        '          "Arg_List": {"Arg0 (opener)": 1, "Arg1 (thing opened)": 2},\n'
        '          "Args": {"Arg0 (opener)": "man in black", "Arg1 (thing opened)": "the door"}}}]\n'
    ),
    "rareact": "id,video_id,start,end,class_id,verb,noun,annotation\n14,abc,3,5,8,cut,laptop,1\n",
    "quva": (
        '{"000": {"prefix": "000_rope", "frames": [13, 26],\n'
        '         "templates": ["a man skips rope exactly <number> times."],\n'
        '         "singular_templates": ["a man skips rope exactly <number> time."]}}\n'
    ),
    "lsmdc": (
        "0001_Example_00.00.51.926-00.00.54.129\t00.00.51.926\t00.00.54.129\t00.00.51.926\t00.00.54.129\t"
        "Someone opens a door.\n"
    ),
    "activitynet": '{"v_abc": {"duration": 9.5, "timestamps": [[0, 4.2]], "sentences": ["A man opens a door."]}}\n',
    "didemo": (
        '[{"annotation_id": 7, "video": "12_abc.mov", "description": "a dog jumps", "times": [[1, 2]],\n'
        '  "num_segments": 6}]\n'
    ),
    "kinetics": "label,youtube_id,time_start,time_end,split\nair drumming,abc,10,20,train\n",
    "ucf101": "ApplyEyeMakeup/v_ApplyEyeMakeup_g08_c01.avi 1\n",
    "moments": "blocking/getty-karate_4.mp4,blocking,3,0\n",
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
