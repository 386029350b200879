"""Import lists of videos without captions: clips with class and split, and nothing to make foils for."""

import pytest
from django.core.management import call_command

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Caption, Video
from foilworks.site.imports.store import import_records
from tests import factories

pytestmark = pytest.mark.django_db
HEADER = "label,youtube_id,time_start,time_end,split\n"


@pytest.fixture
def project():
    return factories.make_project(slug="videos")


@pytest.fixture
def listed(tmp_path):
    def write(*rows: str):
        path = tmp_path / "kinetics-400_val.csv"
        path.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_a_list_gives_the_project_videos_with_class_and_split(project, listed):
    result = import_records(project, None, "kinetics", listed("abseiling,a,1,11,val", "air drumming,b,2,12,train"))
    assert [*Video.objects.order_by("pk").values_list("source_id", "class_label", "split")] == [
        ("a_000001_000011", "abseiling", "val"),
        ("b_000002_000012", "air drumming", "train"),
    ]
    assert not Caption.objects.exists()
    found = result.as_json()
    assert (found["new"], found["same"], found["without_captions"]) == (2, 0, 2)


def test_a_second_import_changes_nothing(project, listed):
    path = listed("abseiling,a,1,11,val")
    import_records(project, None, "kinetics", path)
    found = import_records(project, None, "kinetics", path).as_json()
    assert (found["new"], found["same"], found["unchanged"]["videos"], found["warnings"]) == (0, 1, 1, [])


def test_a_different_class_is_a_warning_until_the_import_updates(project, listed):
    import_records(project, None, "kinetics", listed(",a,1,11,val"))
    import_records(project, None, "kinetics", listed("abseiling,a,1,11,val"))
    assert Video.objects.get().class_label == "abseiling"
    path = listed("climbing,a,1,11,val")
    found = import_records(project, None, "kinetics", path)
    assert found.relabelled == 1
    (warning,) = found.warnings
    assert warning == (f"{path}:2: class_label: is 'climbing', but 'abseiling' is stored; import with --update")
    assert Video.objects.get().class_label == "abseiling"
    assert import_records(project, None, "kinetics", path, update=True).warnings == []
    assert Video.objects.get().class_label == "climbing"


def test_a_list_has_no_items_that_count_as_published(project, listed):
    with pytest.raises(EvaluationError, match="--as-published: the format kinetics has no items"):
        import_records(project, None, "kinetics", listed("abseiling,a,1,11,val"), as_published=True)


def test_the_command_says_how_many_videos_have_no_captions(project, listed, capsys):
    call_command("import", "kinetics", str(listed("abseiling,a,1,11,val")), project=project.slug)
    assert "1 video, no captions; 1 class; 1 val\n1 new, 0 same, 0 changed, 0 updated\n" in capsys.readouterr().out


def test_an_own_table_is_counted_as_videos_with_classes_and_splits(project, tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text("path,label,split\na.mp4,lift,train\nb.mp4,open,train\nc.mp4,lift,test\n")
    call_command("import", "csv", str(path), project=project.slug)
    told = capsys.readouterr()
    assert "3 videos, no captions; 2 classes; 2 train, 1 test\n3 new, 0 same" in told.out
    assert "columns: video = path, class_label = label, split = split\n" in told.err
    assert "3 videos have no file yet: a.mp4, b.mp4, c.mp4; attach them with `foilworks attach" in told.err


def test_an_empty_caption_in_a_table_of_captions_is_still_an_error(project, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id,video,caption,label\n1,a.mp4,A hand lifts a cup.,lift\n2,b.mp4,,open\n")
    assert "caption: is missing" in import_records(project, None, "csv", path).errors[0]
