"""Where a page says "Quality → Reports", the bar has that page under that word."""

import re
from pathlib import Path

from foilworks.site.navigation import GROUPS
from scripts.doc_pages import name_of, pages, split
from tests.rows import for_each

BAR = {str(group.label): {str(page.label) for page in group.pages} for group in GROUPS}
# Under one's own name, not in a project's bar: templates/projects/account.html.
ACCOUNT = "Account"
TRAIL = re.compile(r"\*{1,2}([A-Z][\w ]*?) → ([^*→]+?)(?: → [^*]+?)?\*{1,2}")


def unknown(text: str) -> list[str]:
    trails = TRAIL.findall(split(text)[0].replace("\n", " "))
    return [f"{group} → {page}" for group, page in trails if group != ACCOUNT and page not in BAR.get(group, set())]


@for_each("path", pages())
def test_every_menu_path_exists(path: Path) -> None:
    assert not unknown(path.read_text(encoding="utf-8")), name_of(path)


def test_a_wrong_menu_path_is_found() -> None:
    assert unknown("*Quality → Nothing* and **Quality →\nReports**") == ["Quality → Nothing"]
