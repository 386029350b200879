from text.spill import Spill


def test_what_spills_over_is_remembered_as_what_is_in_memory():
    with Spill(in_memory=3) as kept:
        for number in range(10):
            assert kept.setdefault(f"k{number}", str(number)) is None
        kept.put("k0", "again")
        kept.put("new", "n")
        assert [kept.setdefault(f"k{number}", "x") for number in (0, 2, 9)] == ["again", "2", "9"]
        assert kept.setdefault("new", "x") == "n"
        assert kept.setdefault("", "empty") is None
