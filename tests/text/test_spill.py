from foilworks.core.text.spill import Spill


def test_the_first_value_of_a_key_stays_until_another_is_put():
    with Spill() as kept:
        for number in range(10):
            assert kept.setdefault(f"k{number}", str(number)) is None
        kept.put("k0", "again")
        kept.put("new", "n")
        assert [kept.setdefault(f"k{number}", "x") for number in (0, 2, 9)] == ["again", "2", "9"]
        assert kept.setdefault("new", "x") == "n"
        assert kept.setdefault("", "empty") is None
