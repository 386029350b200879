"""How a release is cited: `CITATION.cff` (Citation File Format 1.2) and `citation.bib`."""

import json
import re
import unicodedata

from foilworks.core.corpus.records import ReleaseContent

CFF_VERSION = "1.2.0"
MESSAGE = "If you use this data set, please cite it as below."
NOBODY = "authors not stated"
# What BibTeX would read as more than a letter.
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"{}\\]+")


def title_of(release: ReleaseContent) -> str:
    """The title that people gave it, else the project's name; never empty."""
    return _line(release.papers.citation.title or release.papers.known.get("name", "")) or release.project


def doi_of(release: ReleaseContent) -> str:
    """Return the bare DOI, or "" if there is none or it is invalid."""
    found = _DOI.search(release.papers.citation.doi)
    return found.group(0) if found else ""


def year_of(release: ReleaseContent) -> str:
    return release.papers.citation.year or release.created_at[:4]


def cff(release: ReleaseContent) -> str:
    """YAML whose every value is a JSON string, which YAML reads as it is."""
    cited = release.papers.citation
    fields = {
        "title": title_of(release),
        "version": _line(release.release),
        "date-released": release.created_at[:10],
        "abstract": _line(cited.abstract),
        "doi": doi_of(release),
        "url": _web(cited.url),
        "license-url": _web(cited.licence_url),
    }
    lines = [f"cff-version: {CFF_VERSION}", f"message: {_quoted(MESSAGE)}", "type: dataset", "authors:"]
    for family, given in map(_parts, cited.authors):
        lines.append(f"  - family-names: {_quoted(family)}" if given else f"  - name: {_quoted(family)}")
        lines += [f"    given-names: {_quoted(given)}"] if given else []
    if not cited.authors:
        lines.append(f"  - name: {_quoted(NOBODY)}")
    lines += [f"{name}: {_quoted(value)}" for name, value in fields.items() if value]
    lines += ["identifiers:", "  - type: other", f"    value: {_quoted('sha256:' + release.content_hash)}"]
    lines.append('    description: "content hash of the release"')
    return "\n".join(lines) + "\n"


def bibtex(release: ReleaseContent) -> str:
    """One `@misc` entry, which every BibTeX knows."""
    cited = release.papers.citation
    fields = {
        "title": "{" + _latex(title_of(release)) + "}",
        "author": " and ".join("{" + _latex(name) + "}" if "," not in name else _latex(name) for name in cited.authors),
        "year": _latex(year_of(release)),
        "version": _latex(release.release),
        "doi": doi_of(release),
        "url": _web(cited.url).replace("%", r"\%").replace("#", r"\#"),
        "note": f"{_latex(_release_words(release))}, sha256:{release.content_hash[:16]}",
    }
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{_key(release)},\n{body}\n}}\n"


def _release_words(release: ReleaseContent) -> str:
    """Return "Release v1"; a release that is named "release 1" needs no second "Release"."""
    name = _line(release.release)
    return name[:1].upper() + name[1:] if name.lower().startswith("release") else f"Release {name}"


def _key(release: ReleaseContent) -> str:
    project = re.sub(r"[^a-z0-9]+", "", release.project.lower())
    if not release.papers.citation.authors:
        return f"{project or 'release'}{year_of(release)}"
    plain = (
        unicodedata.normalize("NFKD", _parts(release.papers.citation.authors[0])[0]).encode("ascii", "ignore").decode()
    )
    stem = re.sub(r"[^A-Za-z0-9]+", "", plain.split()[0] if plain.split() else "") or "release"
    return f"{stem.lower()}{year_of(release)}{project}"


def _parts(author: str) -> tuple[str, str]:
    """("Family", "Given"); a name without a comma is of an organisation and stays whole."""
    family, _, given = _line(author).partition(",")
    return family.strip(), given.strip()


def _line(text: str) -> str:
    """One line, without the marks that turn the direction of what follows them."""
    return " ".join(_TURNS.sub("", text).split())


def _quoted(text: str) -> str:
    return json.dumps(_line(text), ensure_ascii=False)


def _latex(text: str) -> str:
    return "".join(LATEX.get(char, char) for char in _line(text))


def _web(address: str) -> str:
    return address if re.fullmatch(r"https?://[^\s\"{}\\<>]+", address) else ""
