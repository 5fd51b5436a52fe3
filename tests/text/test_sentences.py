import pytest

from fencepost.text import split_text


def sentences(text: str) -> list[str]:
    """The sentences as they stand in the text, with single spaces."""
    found = []
    for sentence in split_text(text):
        assert sentence.offsets
        found.append(" ".join(text[sentence.offsets[0][0] : sentence.offsets[-1][1]].split()))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "It rained. | We left! | Why? | Nobody knows.",
        "It cost 3.5 million. | 20 people paid.",
        # abbreviations
        "Mr. Roe met Dr. Doe in St. Paul. | They spoke.",
        "He lives in the U.S. | The house is old.",
        "The U.S. Senate met at 5 p.m. on Monday.",
        "Roe Inc. | But Doe Corp. Ltd. did not.",
        "See no. 5, e.g. The Raven, etc. | It is short.",
        "John Q. Public and J. R. Roe came. | So did I. | We stayed.",
        # quotes and brackets
        "He said: “So.” | She left. | (It was late.) | “Well.”",
        '"Why?" Ann asked. | "Because." | She went.',
        '"Why?" she asked. | "Stop!" | The car stood.',
        "Her films are Go! (1965) and Why? (1970).",
        # what follows the end
        "It was so. [2] | Then it changed. [3] [4] | It stayed.15 | Good.",
        "Well done! 😀👍🏽 | Thanks. :) | See you.",
        "A list [of things] is [2] long.",
        # what does not start a sentence
        "It was ... well ... odd. | Odd? and how!",
        "It ended ... | Then it began again… | Good.",
        "Yes! — he cried.",
        "The firm makes it. | iPhones sell. | $5 is much. | @jo said so. | #fun",
        "2nd. | 3rd place.",
        # a space left out
        "This is the end.Then it began.What?Nothing!",
        "我来了。你好！",
        "Use Node.Js or NASA.Gov now.",
    ],
)
def test_a_sentence_ends_where_another_may_start(text: str) -> None:
    if "Then it began.What" in text:
        assert sentences(text) == ["This is the end.", "Then it began.", "What?", "Nothing!"]
    elif "我" in text:
        assert sentences(text) == ["我来了。", "你好！"]
    else:
        assert sentences(text.replace("| ", "")) == text.split(" | ")


@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\n \t\n", "\n\n\n\n", "\r\r", "\u2029\n"])
def test_a_blank_line_always_ends_a_sentence(blank: str) -> None:
    assert sentences(f"a heading{blank}and a text,{blank}cut") == [
        "a heading",
        "and a text,",
        "cut",
    ]


def test_wrapped_lines_are_one_text() -> None:
    text = (
        "The Society for the Preservation of Old\n"
        "London Bridges met in the house of Mrs.\n"
        "Roe, who had invited them all. They ate\n"
        "and drank. Nobody left.\n"
    )
    assert sentences(text) == [
        "The Society for the Preservation of Old London Bridges met in the house of Mrs. Roe, "
        "who had invited them all.",
        "They ate and drank.",
        "Nobody left.",
    ]


def test_lines_that_had_room_end_a_sentence_before_a_capital() -> None:
    text = "Our Plans\nWe want to go to the sea, and to stay there for a week\nor two. Then home"
    assert sentences(text) == [
        "Our Plans",
        "We want to go to the sea, and to stay there for a week or two.",
        "Then home",
    ]
    assert sentences("Milk\nEggs\nSalt") == ["Milk", "Eggs", "Salt"]


@pytest.mark.parametrize(
    "text",
    [
        "so here\nwe go on",
        "12 Long Road,\nOslo",
        "The History of\nRome",
        "written by Dr.\nRoe",
        "by John Q.\nPublic",
    ],
)
def test_lines_that_are_not_finished_go_on(text: str) -> None:
    assert len(sentences(text)) == 1


def test_a_finished_line_that_had_room_ends_a_sentence_before_any_word() -> None:
    assert sentences("we went home.\nthen we slept") == ["we went home.", "then we slept"]


def test_an_item_of_a_list_starts_a_sentence() -> None:
    text = "we need:\n- milk\n* eggs and bread\n• salt\n1. pepper\n2. oil"
    assert sentences(text) == [
        *["we need:", "- milk", "* eggs and bread", "• salt", "1. pepper", "2. oil"]
    ]
    assert sentences("We met. • Roe was there. * So was Doe.") == [
        *["We met.", "• Roe was there.", "* So was Doe."]
    ]


def test_many_opening_signs_start_no_sentence() -> None:
    assert sentences('So. "(["[" Well') == ['So. "(["[" Well']
