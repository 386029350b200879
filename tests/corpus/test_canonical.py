import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.corpus.rules.canonical import canonical_line, content_hash

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_keys_are_sorted_and_spaces_left_out():
    assert canonical_line({"b": [1, {"z": 1, "a": 2}], "a": "é"}) == '{"a":"é","b":[1,{"a":2,"z":1}]}'


def test_the_hash_is_sha256_of_the_lines_sorted_by_id():
    expected = hashlib.sha256(b'{"caption":"x","id":"a"}\n{"caption":"y","id":"b"}\n').hexdigest()
    assert content_hash([{"id": "b", "caption": "y"}, {"caption": "x", "id": "a"}]) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True, max_size=6))
def test_ids_are_sorted_by_code_points(ids):
    lines = [canonical_line({"id": name}) for name in sorted(ids)]
    assert (
        content_hash({"id": name} for name in ids)
        == hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    )


def test_ids_beyond_the_basic_plane_come_last():
    """As in UTF-8, and not as in UTF-16."""
    first, last = {"id": "\uffff"}, {"id": "\U00010000"}
    lines = f"{canonical_line(first)}\n{canonical_line(last)}\n".encode()
    assert content_hash([last, first]) == hashlib.sha256(lines).hexdigest()


def test_one_changed_code_point_changes_the_hash():
    composed, combining = [{"id": "a", "caption": "caf\u00e9"}], [{"id": "a", "caption": "cafe\u0301"}]
    assert content_hash(composed) != content_hash(combining)


@pytest.mark.parametrize(
    ("record", "error", "said"),
    [
        ({"id": "a", "x": float("nan")}, ValueError, "not JSON compliant"),
        ({"id": "a", "x": float("inf")}, ValueError, "not JSON compliant"),
        ({"id": "a", "x": "\ud800"}, ValueError, "surrogates not allowed"),
        ({"id": "a", "x": {1: 2}}, TypeError, "^a key of a canonical record must be text, not 1$"),
        ({"id": "a", "x": [{None: 2}]}, TypeError, "^a key of a canonical record must be text, not None$"),
        ({"caption": "c"}, TypeError, r"^a record of a release has no text id: \{'caption': 'c'\}$"),
        ({"id": 1}, TypeError, r"^a record of a release has no text id: \{'id': 1\}$"),
    ],
)
def test_values_without_a_canonical_form_are_rejected(record, error, said):
    with pytest.raises(error, match=said):
        content_hash([record])


def test_a_long_record_without_an_id_is_named_by_its_beginning():
    with pytest.raises(TypeError) as caught:
        content_hash([{"caption": "c" * 500}])
    assert str(caught.value) == "a record of a release has no text id: " + str({"caption": "c" * 500})[:120]


def test_two_records_with_one_id_are_refused():
    with pytest.raises(ValueError, match="same id 'a'"):
        content_hash([{"id": "a"}, {"id": "a"}])


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), json_values, max_size=5))
def test_a_line_holds_no_line_feed_and_no_key_order(record):
    line = canonical_line(record)
    assert "\n" not in line
    assert canonical_line(dict(reversed(list(record.items())))) == line
