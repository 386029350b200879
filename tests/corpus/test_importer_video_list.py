"""Read videos with a class and split: an own table under the usual names, and published lists without a header."""

import json

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import csv_rows, jsonl, table, video_list
from foilworks.core.corpus.import_formats.parsing.video_rows import looks_like_line
from foilworks.core.corpus.import_formats.video_sets import KINETICS
from foilworks.core.corpus.records import BadRecord, ItemRecord, RecordWarning, TakenColumns

ROWS = [("cup.mp4", "lift cup", "train"), ("door.mp4", "open door", "test")]


def read(module, path, text, **params):
    path.write_text(text, encoding="utf-8")
    return list(module.read(path, params=params))


def labels(outcomes):
    return [(one.id, one.video.class_label, one.video.split) for one in outcomes if isinstance(one, ItemRecord)]


def remarks(outcomes):
    return [one.field for one in outcomes if isinstance(one, RecordWarning)]


@pytest.mark.parametrize("module", [csv_rows, table, video_list])
@pytest.mark.parametrize(
    "header", ["path,label,split", "video,class_label,split", "file,class,subset", "filename,action,set"]
)
def test_an_own_table_gives_class_and_split_under_any_usual_header(tmp_path, module, header):
    text = "\n".join([header, *map(",".join, ROWS)])
    taken, *found = read(module, tmp_path / "x.csv", text)
    assert labels(found) == ROWS
    video, label, split = header.split(",")
    assert taken == TakenColumns({"video": video, "class_label": label, "split": split})


@pytest.mark.parametrize("module", [jsonl, table, video_list])
def test_json_lines_without_captions_are_videos(tmp_path, module):
    rows = [{"video_path": video, "label": label, "split": split, "fps": 25} for video, label, split in ROWS]
    taken, *found = read(module, tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)))
    assert labels(found) == ROWS
    assert str(taken) == "video = video_path, class_label = label, split = split; not used: fps"


def test_a_table_with_sentences_under_another_name_is_read_as_videos_only_on_request(tmp_path):
    rows = "".join(f"{at}.mp4,A hand lifts cup {at} from the table.,lift,test\n" for at in range(4))
    text = f"video,english,label,split\n{rows}"
    with pytest.raises(CorpusError, match="has no column id, caption"):
        read(csv_rows, tmp_path / "x.csv", text)
    taken, *found = read(video_list, tmp_path / "x.csv", text)
    assert taken.unused == ("english",)
    assert len(labels(found)) == 4


def test_a_class_may_be_as_long_as_a_sentence(tmp_path):
    text = "path,label,split\n1.webm,Pretending to put something next to something,train\n2.webm,Moving up,val\n"
    assert labels(read(csv_rows, tmp_path / "x.csv", text))[0][1] == "Pretending to put something next to something"


def test_a_table_with_captions_is_not_a_list_of_videos(tmp_path):
    text = "id,video,caption,class_label\n1,cup.mp4,A hand lifts a cup.,lift\n"
    (item,) = read(csv_rows, tmp_path / "x.csv", text)
    assert item.caption == "A hand lifts a cup."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("some/path/000.mp4 lift", "lift"),
        ("some/path/000.mp4,lift cup", "lift cup"),
        ("some/path/000.mp4\tlift cup", "lift cup"),
        ('"some/path/000.mp4","lift cup"', "lift cup"),
        ("some/my clip.mp4,lift cup", "lift cup"),
        ("some/frames 120 7", "7"),
        ("34870;Drumming Fingers", "Drumming Fingers"),
        ("some/path/000.mp4,7", "7"),
    ],
)
def test_lines_of_published_lists_give_the_class(tmp_path, line, expected):
    found = read(video_list, tmp_path / "x_train.txt", f"{line}\n")
    assert [(label, split) for _, label, split in labels(found)] == [(expected, "train")]


def test_a_list_of_hmdb51_has_its_class_in_the_name_and_its_split_in_the_line(tmp_path):
    found = read(video_list, tmp_path / "brush_hair_test_split1.txt", "a.avi 1 \nb.avi 2 \nc.avi 0 \nd.avi 7\n")
    assert labels(found) == [("a.avi", "brush hair", "train"), ("b.avi", "brush hair", "test")]
    assert [one.where.rpartition(":")[2] for one in found if isinstance(one, BadRecord)] == ["4"]


@pytest.mark.parametrize("line", ['{"video": "a.mp4", "caption": "A cup."}', "id,video,caption", "1,cup.mp4,A cup."])
def test_other_first_lines_are_not_a_list_without_a_header(line):
    assert not looks_like_line(line)


def test_a_line_may_name_its_split(tmp_path):
    (_, label, split), *_ = labels(read(csv_rows, tmp_path / "x.csv", "a.mp4,train,val\nb.mp4,train,test\n"))
    assert (label, split) == ("train", "val")


def test_folders_name_numbered_classes(tmp_path):
    text = "train/abseiling/a.mp4 0\ntrain/air drumming/b.mp4 1\ntrain/abseiling/c.mp4 0\n"
    found = read(video_list, tmp_path / "k_train_list_videos.txt", text)
    assert [label for _, label, _ in labels(found)] == ["abseiling", "air drumming", "abseiling"]
    assert found[0].columns["class_label"] == "name of the folder"
    assert remarks(found) == []


@pytest.mark.parametrize(
    "names",
    [
        "abseiling\nair drumming\n",
        "0 abseiling\n1 air drumming\n",
        "id,name\n0,abseiling\n1,air drumming\n",
        '{"0": "abseiling", "1": "air drumming"}',
        '{"abseiling": 0, "air drumming": 1}',
    ],
)
def test_a_file_names_numbered_classes(tmp_path, names):
    (tmp_path / "names").write_text(names)
    found = read(video_list, tmp_path / "train.txt", "a.mp4 0\nb.mp4 01\n", classes=str(tmp_path / "names"))
    assert [label for _, label, _ in labels(found)] == ["abseiling", "air drumming"]
    bad = read(video_list, tmp_path / "train.txt", "a.mp4 9\n", classes=str(tmp_path / "names"))
    assert [one.field for one in bad if isinstance(one, BadRecord)] == ["class_label"]


def test_numbers_without_names_and_lists_without_splits_are_remarked(tmp_path):
    assert remarks(read(video_list, tmp_path / "x.txt", "a.mp4 0\nb.mp4 1\n")) == ["class_label", "split"]
    assert remarks(read(video_list, tmp_path / "x.txt", "a.mp4\n")) == ["class_label", "split"]


def test_a_file_of_a_folder_is_also_found_by_its_name_alone(tmp_path):
    one, other = (each.video for each in read(video_list, tmp_path / "train.txt", "x/a.mp4 c\ny/b.mp4 d\n")[1:])
    assert (one.file, one.source_id, other.source_id) == ("x/a.mp4", "a.mp4", "b.mp4")
    one, other = (each.video for each in read(video_list, tmp_path / "train.txt", "x/a.mp4 c\ny/a.mp4 d\n")[1:])
    assert (one.source_id, other.source_id) == ("", "")


@pytest.mark.parametrize("root", ["/home/me/clips/", "C:\\\\Users\\\\me\\\\", "./"])
def test_folders_of_the_authors_machine_are_not_part_of_the_names(tmp_path, root):
    root = root.replace("\\\\", "\\")
    text = f"path,label\n{root}x/a.mp4,c\n{root}y/a.mp4,d\n"
    names = [one.video.file for one in read(csv_rows, tmp_path / "train.csv", text) if isinstance(one, ItemRecord)]
    assert names[0].endswith("x/a.mp4")
    assert names[1].endswith("y/a.mp4")
    assert not any(name.startswith("/") or "\\" in name for name in names)


def test_files_below_the_folder_that_all_share_are_found(tmp_path):
    text = "path,label\nclips/x/a.mp4,c\nclips/y/a.mp4,d\n"
    _, *found = read(csv_rows, tmp_path / "train.csv", text)
    assert [one.video.source_id for one in found] == ["x/a.mp4", "y/a.mp4"]


def test_a_wrong_split_is_named_with_its_line(tmp_path):
    rows = "".join(f"{at}.mp4,c,train\n" for at in range(50))
    *_, bad = read(csv_rows, tmp_path / "x.csv", f"path,label,split\n{rows}z.mp4,c,first\n")
    assert str(bad).endswith("x.csv:52: split: is 'first'; give train, val or test")


def test_a_table_without_a_class_is_refused_with_its_columns(tmp_path):
    with pytest.raises(CorpusError, match=r"no column names a video and its class \(its columns: when, who\)"):
        read(video_list, tmp_path / "x.csv", "when,who\nnow,me\n")


def test_a_table_of_kinetics_is_sent_to_its_format(tmp_path):
    with pytest.raises(CorpusError, match="choose the format kinetics"):
        read(csv_rows, tmp_path / "x.csv", "youtube_id,time_start,time_end,split,label\nabc,1,11,train,abseiling\n")


def test_kinetics_reads_its_published_json(tmp_path):
    entry = {"annotations": {"label": "abseiling", "segment": [1.0, 11.0]}, "subset": "validate", "url": "x"}
    found = read(KINETICS, tmp_path / "kinetics700.json", json.dumps({"abc": entry, "bad": {"subset": "train"}}))
    assert labels(found) == [("Kinetics-700/abc_000001_000011", "abseiling", "val")]
    assert "has no annotations.segment" in str(found[1])


def test_a_recipe_without_a_caption_makes_videos(tmp_path):
    mapping = {"columns": {"video": "p", "class_label": "k", "split": "s"}}
    text = "p,k,s\ncup.mp4,lift cup,training\n"
    assert labels(read(table, tmp_path / "x.csv", text, mapping=mapping)) == [("cup.mp4", "lift cup", "train")]
