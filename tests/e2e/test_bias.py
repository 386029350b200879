"""The pages of UTD in a browser: wide and narrow, with axe."""

from pathlib import Path

import pytest

from evaluation.utd.actions.biases import check_shortcuts
from evaluation.utd.actions.import_benchmark import import_benchmark
from foilworks.core.jobs.runner import run_now
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow
from tests.evaluation.utd import texts
from tests.factories import make_item, make_member, make_subtest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.full
def test_every_page_of_a_measured_data_set(sign_in: SignIn, tmp_path: Path) -> None:
    project, told = texts.described("things", tmp_path)
    owner = make_member(project, "researcher")
    run = texts.measured(told, name="direction")
    texts.measured(told, name="captions", task="retrieval")
    path = tmp_path / "coin.csv"
    lines = [f"{name},,{at % 2}" for at, name in enumerate(run.predictions["ids"])]
    path.write_text("\n".join(["sample,class,correct", *lines]))
    import_benchmark(None, run, path)
    caption = project.videos.filter(split="test").first().captions.get()
    make_item(make_subtest(project), caption, (caption.text.replace("cup", "ball"),), state="valid")
    assert run_now(check_shortcuts(None, told, encoder="fake-words:").job).state == "done"
    page = sign_in(owner)
    for address in (
        "",
        f"{run.pk}/",
        f"{run.pk + 1}/",
        f"{run.pk}/split/",
        f"{run.pk}/models/",
        "ablation/",
        "items/",
        "new/",
        "measure/",
        f"descriptions/{told.pk}/",
    ):
        answer = page.goto(f"/projects/things/bias/{address}")
        assert answer
        assert answer.status == 200
        assert_accessible_wide_and_narrow(page)
