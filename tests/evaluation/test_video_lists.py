"""Import lists of videos without captions: clips with class and split, and nothing to make foils for."""

import pytest
from django.core.management import call_command

from corpus.models import Caption, Video
from evaluation.errors import EvaluationError
from evaluation.imports.store import import_records
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
    (warning,) = import_records(project, None, "kinetics", path).warnings
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
