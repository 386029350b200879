"""`foilworks attach`: files for clips that came without."""

import json

import pytest
from django.core.management import call_command

from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import AuditEvent
from tests.factories import make_project, make_video
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db


@pytest.fixture
def clips(tmp_path):
    project = make_project(slug="p")
    for name in ("film", "other", "third"):
        make_video(project, key=name, source_id=name, media_state=MediaState.MISSING, duration=None, fps=None)
    for name in ("film", "other"):
        write_mp4(tmp_path / f"{name}.mp4", painted_clip(4), fps=8)
    return tmp_path


def test_files_are_found_by_id_and_counted(clips, capsys):
    call_command("attach", "--project", "p", "--media", str(clips), "--source", "film", "--json")
    assert json.loads(capsys.readouterr().out) == {"missing": 0, "ready": 1, "broken": 0, "differing": 0}
    call_command("attach", "--project", "p", "--media", str(clips))
    said = capsys.readouterr()
    assert said.out == "1 missing, 1 ready, 0 broken, 0 differing\n"
    assert "1 still without a file" in said.err
    assert Video.objects.filter(media_state=MediaState.READY).count() == 2
    assert AuditEvent.objects.filter(action="corpus.attach_media", actor=None).count() == 2


def test_an_error_is_one_line(clips, capsys):
    with pytest.raises(SystemExit) as leaving:
        call_command("attach", "--project", "p", "--media", str(clips / "gone"))
    assert leaving.value.code == 1
    words = f"foilworks: {clips / 'gone'}: not a folder. Enter the path of the folder with the media files.\n"
    assert capsys.readouterr().err == words
