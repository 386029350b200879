"""Prompts and instructions to the letter (UTD, Tables F.1-F.4), and what becomes of the answers."""

import pytest

from evaluation.utd import concepts, instructions
from evaluation.utd.concepts import ACTIVITIES, DESCRIPTION, NO_ACTIVITY, OBJECTS, PROMPTS, SEQUENCE, SUMMARY, VERBS
from evaluation.utd.instructions import CLASSIFICATION, FRAME, RETRIEVAL, TARGET

PRINTED = {
    OBJECTS: (
        "<s>[INST] You are an intelligent chatbot designed to extract requested information from the textual "
        "description of an image . I will give you a textual description of the image. List ALL objects visible in the "
        "image. An object is anything that has a fixed shape or form, that you can touch or see. Name each object with "
        "one noun or a maximum of two words. Skip uncertain objects. The textual description of the image: "
        '"<INPUT TEXTUAL DESCRIPTION>" DO NOT PROVIDE ANY EXTRA INFORMATION ABOUT OBJECT PROPERTIES OR RELATIONSHIPS TO '
        "OTHER OBJECTS IN PARENTHESES. DO NOT PROVIDE ANY OTHER OUTPUT TEXT OR EXPLANATION. [/INST] Comprehensive "
        "enumerated list of objects:"
    ),
    ACTIVITIES: (
        "<s>[INST] You are an intelligent chatbot designed to extract requested information from the textual "
        "description of an image . I will give you a textual description of the image. List all VISIBLE activities in "
        "the image. Activity is lively action or movement. Name each activity with a concise phrase SKIP possible or "
        'implied activities that are not visible. If no activity is visible, reply "No activity is visible." DO NOT '
        "PROVIDE ANY OTHER OUTPUT TEXT OR EXPLANATION. The textual description of the image: "
        '"<INPUT TEXTUAL DESCRIPTION>" [/INST] Comprehensive enumerated list of activities:'
    ),
    VERBS: (
        "<s>[INST] You are an intelligent chatbot designed to extract requested information from the textual "
        "description of an image . I will give you a list of visible activities of the image. Your task is to delete "
        'information about objects from this description. Replace all objects in this list with "someone" or '
        '"something," but keep the activity. If you have to, you may delete some details, but delete ALL object '
        'information. If the input is "No activity is visible.", keep it "No activity is visible." DO NOT PROVIDE ANY '
        'OTHER OUTPUT TEXT OR EXPLANATION. The list of visible activities: "<INPUT ACTIVITIES DESCRIPTION >" [/INST] '
        "Post-processed enumerated list of activities:"
    ),
    SUMMARY: (
        "<s>[INST] You are an intelligent chatbot designed to extract requested information from the textual "
        'description of an image. Summarize the following image description in 15 words: "<INPUT TEXTUAL DESCRIPTION>" '
        "[/INST] 15-words summary:"
    ),
}


@pytest.mark.parametrize("what", PRINTED)
def test_prompts_equal_those_of_table_f1_verbatim(what):
    placeholder = "<INPUT ACTIVITIES DESCRIPTION >" if what == VERBS else "<INPUT TEXTUAL DESCRIPTION>"
    assert PROMPTS[what].printed(placeholder) == PRINTED[what]


def test_the_describer_is_asked_as_in_table_f1():
    assert concepts.DESCRIBE == "Describe the objects relationships in the photo."


@pytest.mark.parametrize(("what", "shots"), [(OBJECTS, 3), (ACTIVITIES, 3), (VERBS, 5), (SUMMARY, 0)])
def test_examples_precede_the_question_as_many_as_in_the_paper(what, shots):
    prompt = PROMPTS[what]
    turns = prompt.turns("a dog runs.")
    assert len(turns) == 2 * shots + 2
    assert turns[-2:] == [("user", prompt.user("a dog runs.")), ("assistant", prompt.answer)]
    assert [role for role, _ in prompt.turns_for_endpoint("x")] == ["user", "assistant"] * shots + ["user"]
    assert len({example for example, _ in prompt.examples}) == shots


def test_the_examples_keep_to_their_own_rules():
    for example, answer in PROMPTS[OBJECTS].examples:
        named = concepts.entries(answer)
        assert named
        assert all(len(name.split()) <= 2 and name.split()[-1].rstrip("s").lower() in example.lower() for name in named)
    for example, answer in PROMPTS[VERBS].examples:
        nouns = {
            "man",
            "nail",
            "board",
            "hammer",
            "child",
            "engine",
            "woman",
            "milk",
            "jug",
            "glass",
            "dog",
            "ball",
            "lawn",
        }
        assert nouns & set(example.lower().replace(".", "").split())
        assert not nouns & set(answer.lower().replace(".", "").split())


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("1. man\n2. grey hat\n10. dog", ("man", "grey hat", "dog")),
        ("\n 1) man (standing)\n 2) hat [grey (old)]\n\n", ("man", "hat")),
        ("107: a red cup", ("a red cup",)),
        ("- cup\n* table", ("cup", "table")),
        ("3 balls", ("3 balls",)),
        ("1. 2 balls", ("2 balls",)),
        ("No activity is visible.", ()),
        ("1. no activity is visible", ()),
        ("", ()),
        ("1. (unclear)", ()),
    ],
)
def test_numbers_and_brackets_are_removed(answer, named):
    assert concepts.entries(answer) == named


def test_a_frame_reads_as_in_the_papers_figures():
    assert concepts.frame_text(OBJECTS, "1. Person\n2. small boat\n3. person\n4. Hat.") == "person, small boat, hat"
    answer = "1. A person is holding a blue object\n2. The person is pulling on a line."
    assert concepts.frame_text(ACTIVITIES, answer) == (
        "A person is holding a blue object. The person is pulling on a line."
    )
    assert concepts.frame_text(VERBS, " No activity is visible. ") == NO_ACTIVITY
    assert concepts.frame_text(OBJECTS, NO_ACTIVITY) == ""
    assert concepts.frame_text(DESCRIPTION, "Two\nlines  here.") == "Two lines here."


def test_a_sequence_numbers_its_frames_and_omits_missing_activities():
    assert concepts.sequence_text(["a cup", "a cup, a hand"]) == "Frame 1: a cup Frame 2: a cup, a hand"
    assert concepts.sequence_text(["A man runs.", NO_ACTIVITY, "A man sits."]) == (
        "Frame 1: A man runs. Frame 2: Frame 3: A man sits."
    )


@pytest.mark.parametrize(
    ("task", "concept", "how", "text"),
    [
        (
            CLASSIFICATION,
            DESCRIPTION,
            FRAME,
            "Given a video frame description, retrieve the activity depicted in this video.",
        ),
        (
            CLASSIFICATION,
            DESCRIPTION,
            SEQUENCE,
            "Given descriptions of video frames, retrieve the activity depicted in this video.",
        ),
        (
            CLASSIFICATION,
            OBJECTS,
            FRAME,
            "Given a list of objects visible on the video frame, retrieve the activity depicted in this video.",
        ),
        (
            CLASSIFICATION,
            OBJECTS,
            SEQUENCE,
            "Given lists of objects visible on the video frames, retrieve the activity depicted in this video.",
        ),
        (
            CLASSIFICATION,
            ACTIVITIES,
            FRAME,
            "Given a description of actions visible on the video frame, retrieve the activity depicted in this video.",
        ),
        (
            CLASSIFICATION,
            VERBS,
            SEQUENCE,
            "Given a description of actions visible on the video frames, retrieve the activity depicted in this video.",
        ),
        (
            CLASSIFICATION,
            TARGET,
            FRAME,
            "Given an activity, retrieve a video frame description that may depict this activity.",
        ),
        (
            CLASSIFICATION,
            TARGET,
            SEQUENCE,
            "Given an activity, retrieve a video description that may depict this activity.",
        ),
        (
            RETRIEVAL,
            DESCRIPTION,
            FRAME,
            "Given a description of a single video frame, retrieve a short description of the full video.",
        ),
        (
            RETRIEVAL,
            DESCRIPTION,
            SEQUENCE,
            "Given descriptions of video frames, retrieve a short description of the full video.",
        ),
        (
            RETRIEVAL,
            OBJECTS,
            FRAME,
            "Given a list of objects visible on the video frame, retrieve a short video description.",
        ),
        (
            RETRIEVAL,
            OBJECTS,
            SEQUENCE,
            "Given lists of objects visible on the video frames, retrieve a short video description.",
        ),
        (
            RETRIEVAL,
            VERBS,
            FRAME,
            "Given a description of actions visible on the video frame, retrieve a short video description.",
        ),
        (
            RETRIEVAL,
            ACTIVITIES,
            SEQUENCE,
            "Given a description of actions visible on the video frames, retrieve a short video description.",
        ),
        (
            RETRIEVAL,
            TARGET,
            FRAME,
            "Given a short video description, retrieve a description of a specific frame within that video.",
        ),
        (RETRIEVAL, TARGET, SEQUENCE, "Given a short video description, retrieve another description of this video."),
    ],
)
def test_instructions_equal_those_of_tables_f2_and_f3(task, concept, how, text):
    assert instructions.INSTRUCTIONS[task][concept][how] == text


def test_robust_instructions_equal_those_of_table_f4():
    assert instructions.ROBUST_OBJECTS[RETRIEVAL] == (
        "Given lists of objects visible on the video frames, retrieve a short video description.",
        "Using lists of objects seen in video frames, retrieve a brief description of the video.",
        "From lists of objects present in video frames, retrieve a concise video description.",
    )
    assert instructions.ROBUST_OBJECTS[CLASSIFICATION] == (
        "Given lists of objects visible on the video frames, retrieve the activity depicted in this video.",
        "Using lists of objects seen in video frames, retrieve the activity captured in the video.",
        "From lists of objects present in video frames, retrieve the activity that the video shows.",
    )
    assert instructions.ROBUST_CAPTIONS == (
        "Given a short video description, retrieve another description of this video.",
        "Use a brief video description as a query to retrieve an alternative description of the same video.",
        "Given a concise video description, retrieve another description for that video.",
    )


def test_a_text_is_embedded_with_its_instruction():
    assert instructions.instructed("Find it.", "a cup") == "Instruct: Find it.\nQuery: a cup"
