from foilworks_example.importer import read

from foilworks.plugins import BadRecord


def test_each_line_is_an_item(tmp_path):
    path = tmp_path / "doors.txt"
    path.write_text("door.mp4\tA man opens a door.\tA man closes a door.\nlamp.mp4\n", encoding="utf-8")
    item, bad = read(path, params={})
    assert (item.video.key, item.foils) == ("door", ("A man closes a door.",))
    assert isinstance(bad, BadRecord)
