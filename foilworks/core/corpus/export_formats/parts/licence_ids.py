"""Identifiers of common licences on the Hub and on Zenodo, found by what people typed as the licence of a data set."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Licence:
    """`hub`: in the header of a data set card. `deposit`: in the metadata of a Zenodo deposit."""

    hub: str
    url: str
    deposit: str


_CC = "https://creativecommons.org/"
_FORM_OF_CC = "licenses/{kind}/4.0/"
_LICENCES = (
    Licence("cc0-1.0", f"{_CC}publicdomain/zero/1.0/", "cc-zero"),
    *(
        Licence(f"cc-{kind}-4.0", _CC + _FORM_OF_CC.format(kind=kind), f"cc-{kind}-4.0")
        for kind in ("by", "by-sa", "by-nc", "by-nd", "by-nc-sa", "by-nc-nd")
    ),
    Licence("cc-by-3.0", f"{_CC}licenses/by/3.0/", "cc-by-3.0"),
    Licence("apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0", "apache-2.0"),
    Licence("mit", "https://opensource.org/license/mit", "mit"),
    Licence("odc-by", "https://opendatacommons.org/licenses/by/1-0/", "odc-by-1.0"),
    Licence("odbl", "https://opendatacommons.org/licenses/odbl/1-0/", "odbl-1.0"),
    Licence("pddl", "https://opendatacommons.org/licenses/pddl/1-0/", "pddl-1.0"),
)
_LONG_WORDS = (
    ("creative commons", "cc"),
    ("attribution", "by"),
    ("noncommercial", "nc"),
    ("non-commercial", "nc"),
    ("sharealike", "sa"),
    ("noderivatives", "nd"),
    ("zero", "0"),
)
_NOISE = re.compile(r"\b(international|licen[cs]e|public|domain|dedication|version|the|universal)\b|[^a-z0-9]")
_ALIASES = {"cc0": "cc0-1.0", "cc010": "cc0-1.0", "apache20": "apache-2.0", "odcby10": "odc-by", "odbl10": "odbl"}


def known_licence(text: str, url: str = "") -> Licence | None:
    """Return the licence that the text names, else that of the address; None if neither is known for certain."""
    by_name = {_plain(licence.hub): licence for licence in _LICENCES}
    plain = _plain(text)
    if plain in _ALIASES:
        plain = _plain(_ALIASES[plain])
    by_address = {_address(licence.url): licence for licence in _LICENCES}
    return by_name.get(plain) or by_address.get(_address(url))


def _plain(text: str) -> str:
    name = text.lower()
    for long, short in _LONG_WORDS:
        name = name.replace(long, short)
    return _NOISE.sub("", name)


def _address(url: str) -> str:
    """Leave out what differs between addresses of one licence: scheme, language, file."""
    address = re.sub(r"^https?://(www\.)?", "", url.strip().lower())
    return re.sub(r"/?(deed|legalcode)?(\.[a-z-]+)?/?$", "", address)
