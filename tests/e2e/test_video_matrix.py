"""People, models, film strips and stored evidence see the same frames of odd files; see tests/e2e/every_odd_file.py."""

from pathlib import Path

import pytest

from tests.e2e.conftest import SignIn
from tests.e2e.video_matrix import LISTEN, Row, measure
from tests.factories import make_member, make_project
from tests.media.odd_files import OddFile, make, odd_files

pytestmark = pytest.mark.django_db(transaction=True)
# One of each kind that once was shown otherwise than models saw it.
FEW = ("cut.mov", "turned-90-mirrored.mp4", "slides.webm", "bt709-hevc.mp4", "open-gop.mp4", "recovery-points.mp4",
       "hlg-bars-turned.mov", "film-hlg.mov")  # fmt: skip


def rows_of(sign_in: SignIn, folder: Path, files: list[OddFile]) -> list[Row]:
    project = make_project()
    # Its script stays in the tab, so nobody else gets it; a player that finds no form yet may complain.
    page = sign_in(make_member(project, "researcher"), alone=True)
    page.add_init_script(LISTEN)
    return [measure(page, project, make(odd, folder), odd) for odd in files]


@pytest.mark.full
def test_odd_files_are_the_same_for_everybody(sign_in: SignIn, tmp_path: Path) -> None:
    rows = rows_of(sign_in, tmp_path, [odd for odd in odd_files() if odd.name in FEW])
    assert len(rows) == len(FEW)
    assert [row.line() for row in rows if not row.agrees] == []
    assert all(row.converted for row in rows)


@pytest.mark.full
@pytest.mark.slow(seconds=330)
def test_every_odd_file_is_the_same_for_everybody_or_refused(sign_in: SignIn, tmp_path: Path) -> None:
    rows = rows_of(sign_in, tmp_path, odd_files())
    assert len(rows) >= 60
    assert [row.line() for row in rows if not row.agrees] == []
    refused = {row.name for row in rows if row.refused}
    assert refused == {odd.name for odd in odd_files() if odd.refused}
