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


def _asked(slug: str, text: str, filled: bool = False) -> Question:
    return Question(slug, text, filled)


def _section(slug: str, title: str, *rows: Question) -> Section:
    asked = (*rows, _asked("comments", "Any other comments?"))
    return Section(slug, title, tuple(replace(row, slug=f"{slug}.{row.slug}") for row in asked))


SECTIONS: tuple[Section, ...] = (
    _section(
        "motivation",
        "Motivation",
        _asked(
            "purpose",
            "For what purpose was the dataset created? Was there a specific task in mind? Was there a "
            "specific gap that needed to be filled?",
            True,
        ),
        _asked(
            "creators",
            "Who created the dataset (for example, which team, research group) and on behalf of which entity "
            "(for example, company, institution, organization)?",
            True,
        ),
        _asked(
            "funding",
            "Who funded the creation of the dataset? If there is an associated grant, please provide the name "
            "of the grantor and the grant name and number.",
        ),
    ),
    _section(
        "composition",
        "Composition",
        _asked(
            "instances",
            "What do the instances that comprise the dataset represent (for example, documents, photos, "
            "people, countries)? Are there multiple types of instances?",
            True,
        ),
        _asked("count", "How many instances are there in total (of each type, if appropriate)?", True),
        _asked(
            "sample",
            "Does the dataset contain all possible instances or is it a sample (not necessarily random) of "
            "instances from a larger set?",
            True,
        ),
        _asked(
            "data",
            "What data does each instance consist of? “Raw” data (for example, unprocessed text or "
            "images) or features?",
            True,
        ),
        _asked("label", "Is there a label or target associated with each instance?", True),
        _asked("missing", "Is any information missing from individual instances?", True),
        _asked(
            "relations",
            "Are relationships between individual instances made explicit (for example, users’ movie "
            "ratings, social network links)?",
            True,
        ),
        _asked(
            "splits",
            "Are there recommended data splits (for example, training, development/validation, testing)?",
            True,
        ),
        _asked("errors", "Are there any errors, sources of noise, or redundancies in the dataset?", True),
        _asked(
            "self_contained",
            "Is the dataset self-contained, or does it link to or otherwise rely on external resources "
            "(for example, websites, tweets, other datasets)?",
            True,
        ),
        _asked(
            "confidential",
            "Does the dataset contain data that might be considered confidential (for example, data that "
            "is protected by legal privilege or by doctor–patient confidentiality, data that includes the content "
            "of individuals’ non-public communications)?",
        ),
        _asked(
            "offensive",
            "Does the dataset contain data that, if viewed directly, might be offensive, insulting, "
            "threatening, or might otherwise cause anxiety?",
            True,
        ),
        _asked("subpopulations", "Does the dataset identify any subpopulations (for example, by age, gender)?"),
        _asked(
            "individuals",
            "Is it possible to identify individuals (that is, one or more natural persons), either "
            "directly or indirectly (that is, in combination with other data) from the dataset?",
        ),
        _asked(
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
        _asked(
            "acquired",
            "How was the data associated with each instance acquired? Was the data directly observable, "
            "reported by subjects, or indirectly inferred/derived from other data?",
            True,
        ),
        _asked(
            "mechanisms",
            "What mechanisms or procedures were used to collect the data (for example, hardware "
            "apparatuses or sensors, manual human curation, software programs, software APIs)? How were these "
            "mechanisms or procedures validated?",
            True,
        ),
        _asked(
            "sampling",
            "If the dataset is a sample from a larger set, what was the sampling strategy (for example, "
            "deterministic, probabilistic with specific sampling probabilities)?",
            True,
        ),
        _asked(
            "who",
            "Who was involved in the data collection process (for example, students, crowdworkers, contractors) "
            "and how were they compensated (for example, how much were crowdworkers paid)?",
            True,
        ),
        _asked(
            "timeframe",
            "Over what timeframe was the data collected? Does this timeframe match the creation timeframe "
            "of the data associated with the instances (for example, recent crawl of old news articles)?",
            True,
        ),
        _asked(
            "ethics", "Were any ethical review processes conducted (for example, by an institutional review board)?"
        ),
        _asked(
            "direct",
            "Did you collect the data from the individuals in question directly, or obtain it via third "
            "parties or other sources (for example, websites)?",
        ),
        _asked("notified", "Were the individuals in question notified about the data collection?", True),
        _asked("consent", "Did the individuals in question consent to the collection and use of their data?", True),
        _asked(
            "revoke",
            "If consent was obtained, were the consenting individuals provided with a mechanism to revoke "
            "their consent in the future or for certain uses?",
            True,
        ),
        _asked(
            "impact",
            "Has an analysis of the potential impact of the dataset and its use on data subjects (for example, "
            "a data protection impact analysis) been conducted?",
        ),
    ),
    _section(
        "preprocessing",
        "Preprocessing, cleaning, labeling",
        _asked(
            "done",
            "Was any preprocessing/cleaning/labeling of the data done (for example, discretization or bucketing, "
            "tokenization, part-of-speech tagging, SIFT feature extraction, removal of instances, processing of "
            "missing values)?",
            True,
        ),
        _asked(
            "raw",
            "Was the “raw” data saved in addition to the preprocessed/cleaned/labeled data (for "
            "example, to support unanticipated future uses)?",
            True,
        ),
        _asked("software", "Is the software that was used to preprocess/clean/label the data available?", True),
    ),
    _section(
        "uses",
        "Uses",
        _asked("used", "Has the dataset been used for any tasks already?", True),
        _asked("repository", "Is there a repository that links to any or all papers or systems that use the dataset?"),
        _asked("others", "What (other) tasks could the dataset be used for?"),
        _asked(
            "impacts",
            "Is there anything about the composition of the dataset or the way it was collected and "
            "preprocessed/cleaned/labeled that might impact future uses?",
            True,
        ),
        _asked("not_for", "Are there tasks for which the dataset should not be used?"),
    ),
    _section(
        "distribution",
        "Distribution",
        _asked(
            "third_parties",
            "Will the dataset be distributed to third parties outside of the entity (for example, "
            "company, institution, organization) on behalf of which the dataset was created?",
        ),
        _asked(
            "how",
            "How will the dataset be distributed (for example, tarball on website, API, GitHub)? Does the dataset "
            "have a digital object identifier (DOI)?",
            True,
        ),
        _asked("when", "When will the dataset be distributed?", True),
        _asked(
            "licence",
            "Will the dataset be distributed under a copyright or other intellectual property (IP) license, "
            "and/or under applicable terms of use (ToU)?",
            True,
        ),
        _asked(
            "restrictions",
            "Have any third parties imposed IP-based or other restrictions on the data associated with the instances?",
            True,
        ),
        _asked(
            "export_controls",
            "Do any export controls or other regulatory restrictions apply to the dataset or to individual instances?",
        ),
    ),
    _section(
        "maintenance",
        "Maintenance",
        _asked("who", "Who will be supporting/hosting/maintaining the dataset?"),
        _asked(
            "contact",
            "How can the owner/curator/manager of the dataset be contacted (for example, email address)?",
            True,
        ),
        _asked("erratum", "Is there an erratum?", True),
        _asked(
            "updates",
            "Will the dataset be updated (for example, to correct labeling errors, add new instances, delete "
            "instances)?",
            True,
        ),
        _asked(
            "retention",
            "If the dataset relates to people, are there applicable limits on the retention of the data "
            "associated with the instances (for example, were the individuals in question told that their data would "
            "be retained for a fixed period of time and then deleted)?",
        ),
        _asked("versions", "Will older versions of the dataset continue to be supported/hosted/maintained?", True),
        _asked(
            "extend",
            "If others want to extend/augment/build on/contribute to the dataset, is there a mechanism for "
            "them to do so?",
            True,
        ),
    ),
)
QUESTIONS: dict[str, Question] = {question.slug: question for section in SECTIONS for question in section.questions}
