"""The questions of "Datasheets for Datasets" (Gebru et al., 2021), section by section, in the words of the paper.

A slug never changes: what people answered is kept under it.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Question:
    """`filled`: the release's own numbers answer it, or a part of it."""

    slug: str
    text: str
    filled: bool = False


@dataclass(frozen=True)
class Section:
    slug: str
    title: str
    questions: tuple[Question, ...]


def _question(slug: str, text: str, filled: bool = False) -> Question:
    return Question(slug, text, filled)


def _section(slug: str, title: str, *rows: Question) -> Section:
    questions = (*rows, _question("comments", "Any other comments?"))
    return Section(slug, title, tuple(replace(row, slug=f"{slug}.{row.slug}") for row in questions))


SECTIONS: tuple[Section, ...] = (
    _section(
        "motivation",
        "Motivation",
        _question(
            "purpose",
            "For what purpose was the dataset created? Was there a specific task in mind? Was there a "
            "specific gap that needed to be filled?",
            True,
        ),
        _question(
            "creators",
            "Who created the dataset (for example, which team, research group) and on behalf of which entity "
            "(for example, company, institution, organization)?",
            True,
        ),
        _question(
            "funding",
            "Who funded the creation of the dataset? If there is an associated grant, please provide the name "
            "of the grantor and the grant name and number.",
        ),
    ),
    _section(
        "composition",
        "Composition",
        _question(
            "instances",
            "What do the instances that comprise the dataset represent (for example, documents, photos, "
            "people, countries)? Are there multiple types of instances?",
            True,
        ),
        _question("count", "How many instances are there in total (of each type, if appropriate)?", True),
        _question(
            "sample",
            "Does the dataset contain all possible instances or is it a sample (not necessarily random) of "
            "instances from a larger set?",
            True,
        ),
        _question(
            "data",
            "What data does each instance consist of? “Raw” data (for example, unprocessed text or "
            "images) or features?",
            True,
        ),
        _question("label", "Is there a label or target associated with each instance?", True),
        _question("missing", "Is any information missing from individual instances?", True),
        _question(
            "relations",
            "Are relationships between individual instances made explicit (for example, users’ movie "
            "ratings, social network links)?",
            True,
        ),
        _question(
            "splits",
            "Are there recommended data splits (for example, training, development/validation, testing)?",
            True,
        ),
        _question("errors", "Are there any errors, sources of noise, or redundancies in the dataset?", True),
        _question(
            "self_contained",
            "Is the dataset self-contained, or does it link to or otherwise rely on external resources "
            "(for example, websites, tweets, other datasets)?",
            True,
        ),
        _question(
            "confidential",
            "Does the dataset contain data that might be considered confidential (for example, data that "
            "is protected by legal privilege or by doctor–patient confidentiality, data that includes the content "
            "of individuals’ non-public communications)?",
        ),
        _question(
            "offensive",
            "Does the dataset contain data that, if viewed directly, might be offensive, insulting, "
            "threatening, or might otherwise cause anxiety?",
            True,
        ),
        _question("subpopulations", "Does the dataset identify any subpopulations (for example, by age, gender)?"),
        _question(
            "individuals",
            "Is it possible to identify individuals (that is, one or more natural persons), either "
            "directly or indirectly (that is, in combination with other data) from the dataset?",
        ),
        _question(
            "sensitive",
            "Does the dataset contain data that might be considered sensitive in any way (for example, data "
            "that reveals race or ethnic origins, sexual orientations, religious beliefs, political opinions or union "
            "memberships, or locations; financial or health data; biometric or genetic data; forms of government "
            "identification, such as social security numbers; criminal history)?",
        ),
    ),
    _section(
        "collection",
        "Collection process",
        _question(
            "acquired",
            "How was the data associated with each instance acquired? Was the data directly observable, "
            "reported by subjects, or indirectly inferred/derived from other data?",
            True,
        ),
        _question(
            "mechanisms",
            "What mechanisms or procedures were used to collect the data (for example, hardware "
            "apparatuses or sensors, manual human curation, software programs, software APIs)? How were these "
            "mechanisms or procedures validated?",
            True,
        ),
        _question(
            "sampling",
            "If the dataset is a sample from a larger set, what was the sampling strategy (for example, "
            "deterministic, probabilistic with specific sampling probabilities)?",
            True,
        ),
        _question(
            "who",
            "Who was involved in the data collection process (for example, students, crowdworkers, contractors) "
            "and how were they compensated (for example, how much were crowdworkers paid)?",
            True,
        ),
        _question(
            "timeframe",
            "Over what timeframe was the data collected? Does this timeframe match the creation timeframe "
            "of the data associated with the instances (for example, recent crawl of old news articles)?",
            True,
        ),
        _question(
            "ethics", "Were any ethical review processes conducted (for example, by an institutional review board)?"
        ),
        _question(
            "direct",
            "Did you collect the data from the individuals in question directly, or obtain it via third "
            "parties or other sources (for example, websites)?",
        ),
        _question("notified", "Were the individuals in question notified about the data collection?", True),
        _question("consent", "Did the individuals in question consent to the collection and use of their data?", True),
        _question(
            "revoke",
            "If consent was obtained, were the consenting individuals provided with a mechanism to revoke "
            "their consent in the future or for certain uses?",
            True,
        ),
        _question(
            "impact",
            "Has an analysis of the potential impact of the dataset and its use on data subjects (for example, "
            "a data protection impact analysis) been conducted?",
        ),
    ),
    _section(
        "preprocessing",
        "Preprocessing, cleaning, labeling",
        _question(
            "done",
            "Was any preprocessing/cleaning/labeling of the data done (for example, discretization or bucketing, "
            "tokenization, part-of-speech tagging, SIFT feature extraction, removal of instances, processing of "
            "missing values)?",
            True,
        ),
        _question(
            "raw",
            "Was the “raw” data saved in addition to the preprocessed/cleaned/labeled data (for "
            "example, to support unanticipated future uses)?",
            True,
        ),
        _question("software", "Is the software that was used to preprocess/clean/label the data available?", True),
    ),
    _section(
        "uses",
        "Uses",
        _question("used", "Has the dataset been used for any tasks already?", True),
        _question(
            "repository", "Is there a repository that links to any or all papers or systems that use the dataset?"
        ),
        _question("others", "What (other) tasks could the dataset be used for?"),
        _question(
            "impacts",
            "Is there anything about the composition of the dataset or the way it was collected and "
            "preprocessed/cleaned/labeled that might impact future uses?",
            True,
        ),
        _question("not_for", "Are there tasks for which the dataset should not be used?"),
    ),
    _section(
        "distribution",
        "Distribution",
        _question(
            "third_parties",
            "Will the dataset be distributed to third parties outside of the entity (for example, "
            "company, institution, organization) on behalf of which the dataset was created?",
        ),
        _question(
            "how",
            "How will the dataset be distributed (for example, tarball on website, API, GitHub)? Does the dataset "
            "have a digital object identifier (DOI)?",
            True,
        ),
        _question("when", "When will the dataset be distributed?", True),
        _question(
            "licence",
            "Will the dataset be distributed under a copyright or other intellectual property (IP) license, "
            "and/or under applicable terms of use (ToU)?",
            True,
        ),
        _question(
            "restrictions",
            "Have any third parties imposed IP-based or other restrictions on the data associated with the instances?",
            True,
        ),
        _question(
            "export_controls",
            "Do any export controls or other regulatory restrictions apply to the dataset or to individual instances?",
        ),
    ),
    _section(
        "maintenance",
        "Maintenance",
        _question("who", "Who will be supporting/hosting/maintaining the dataset?"),
        _question(
            "contact",
            "How can the owner/curator/manager of the dataset be contacted (for example, email address)?",
            True,
        ),
        _question("erratum", "Is there an erratum?", True),
        _question(
            "updates",
            "Will the dataset be updated (for example, to correct labeling errors, add new instances, delete "
            "instances)?",
            True,
        ),
        _question(
            "retention",
            "If the dataset relates to people, are there applicable limits on the retention of the data "
            "associated with the instances (for example, were the individuals in question told that their data would "
            "be retained for a fixed period of time and then deleted)?",
        ),
        _question("versions", "Will older versions of the dataset continue to be supported/hosted/maintained?", True),
        _question(
            "extend",
            "If others want to extend/augment/build on/contribute to the dataset, is there a mechanism for "
            "them to do so?",
            True,
        ),
    ),
)
QUESTIONS: dict[str, Question] = {question.slug: question for section in SECTIONS for question in section.questions}
