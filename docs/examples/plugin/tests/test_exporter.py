from foilworks_example.exporter import write

from foilworks.plugins import ItemRecord, VideoRecord, release_of


def test_each_foil_is_a_line(tmp_path):
    item = ItemRecord("1", "doors", VideoRecord("door"), "A man opens a door.", ("A man closes a door.",))
    (path,) = write(release_of([item]), tmp_path / "out", params={"header": False})
    assert path.read_text(encoding="utf-8") == "1\tA man opens a door.\tA man closes a door.\n"
