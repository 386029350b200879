"""A small file of each format, as people write it by hand or as it is published."""

# Taken as it stands. A folder has none.
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
    "video-list": "path,label,split\ncup.mp4,lift cup,train\ndoor.mp4,open door,test\n",
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
    "timeblind": (
        '{"index": 0, "video_path": "videos/vid_00000_0.mp4", "type": "yes_no", '
        '"question": "Does the boy eat before the girl drinks?", "answer": "Yes"}\n'
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
