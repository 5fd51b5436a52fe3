"""The page as people use it, in a real browser."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Route, expect

from fencepost.drawing.colours import kind
from fencepost.drawing.html import STYLE
from fencepost.parser.options import PlacedSpan
from fencepost.web.settings import Settings
from tests.web.pages import PHONE, TEXT, Watched, opened, parser, served, window

pytestmark = pytest.mark.slow


LONG = (
    "While the committee that the mayor of Oslo had appointed in May was discussing the plans for "
    "the harbour, the director of the Museum of Modern Boats in Bergen, who had been waiting for "
    "an answer since the winter, told the reporters of the local paper that she would rather sell "
    "the ships than see them rot in a shed behind the station."
)


def words() -> list[str]:
    return list(parser().parse(TEXT).only().words)


def found(
    text: str, layer: str, *, must: Iterable[PlacedSpan] = (), forbid: Iterable[PlacedSpan] = ()
) -> list[str]:
    """The spans that the parser finds: start, end and label, in order."""
    parse = parser().parse(text, tasks=[layer], must=must, forbid=forbid).only()
    spans = parse.tree.spans if parse.tree is not None else parse.entities or ()
    return sorted(f"{start} {end} {label}" for start, end, label in spans)


def focused(page: Watched) -> str:
    name = page.page.evaluate("document.activeElement.getAttribute('aria-label')")
    return str(name)


def press(page: Watched, *keys: str) -> None:
    for key in keys:
        page.page.keyboard.press(key)


def test_a_text_gets_the_trees_and_entities_that_the_parser_finds(page: Watched) -> None:
    page.parse()
    for layer in ("tree", "entities"):
        assert page.spans(layer) == found(TEXT, layer)
    expect(page.page.get_by_role("status").first).to_have_text("1 sentence.")


def test_each_sentence_has_a_card_with_its_own_text(page: Watched) -> None:
    page.parse("Grüße 🙂 from Ann!  It rained.\nAll day.")
    expect(page.page.locator(".sentence h2 .said")).to_have_text(
        ["Grüße 🙂 from Ann!", "It rained.", "All day."]
    )


def test_what_looks_like_markup_is_text(page: Watched) -> None:
    page.parse('He wrote <img src="x" onerror="alert(1)"> & left.')
    expect(page.page.locator(".sentences img")).to_have_count(0)
    expect(page.layer("tree").locator(".word", has_text="<")).not_to_have_count(0)


def test_an_example_is_parsed_with_one_click(page: Watched) -> None:
    page.page.get_by_role("button", name="two sentences").click()
    expect(page.page.locator(".sentence")).to_have_count(2)


def test_the_address_keeps_the_text(page: Watched) -> None:
    page.parse("C+ is 50 % & more.")
    page.page.reload()
    expect(page.page.locator(".said")).to_have_text("C+ is 50 % & more.")


def test_the_skip_link_keeps_the_text_in_the_address(page: Watched) -> None:
    page.parse("It rained.")
    page.page.get_by_role("link", name="Skip to the text").press("Enter")
    expect(page.page.get_by_label("Text", exact=True)).to_be_focused()
    assert page.page.url.endswith("#text=It%20rained.")


def test_back_goes_to_the_last_text(page: Watched) -> None:
    for text in ("It rained.", "It snowed.", "It snowed."):
        page.parse(text)
        expect(page.page.locator(".said")).to_have_text(text)
    for move, text in ((page.page.go_back, "It rained."), (page.page.go_forward, "It snowed.")):
        move()
        expect(page.page.locator(".said")).to_have_text(text)
        expect(page.page.get_by_label("Text", exact=True)).to_have_value(text)


def test_it_says_which_model_answers(page: Watched) -> None:
    expect(page.page.locator("#model")).to_have_text(
        "The model en-small answers here. It finds trees, entities and tags. It is for English."
    )


def test_pointing_at_a_span_shows_its_words_and_probability(page: Watched) -> None:
    page.parse()
    tooltip = page.page.locator("#tooltip")
    page.layer("tree").locator(".span[data-label=VP] text").hover()
    expect(tooltip).to_contain_text("saw the man with the telescope")
    expect(tooltip).to_contain_text(re.compile(r"VP.*\d\s%"))
    expect(page.layer("tree").locator(".word.lit")).to_have_text(
        [re.compile(f"{re.escape(word)}$") for word in words()[10:16]]
    )
    page.page.mouse.move(0, 0)
    expect(tooltip).to_be_hidden()


def test_all_can_be_done_with_the_keyboard(page: Watched) -> None:
    text = page.page.get_by_label("Text", exact=True)
    text.fill("The cat saw a dog.")
    text.press("Control+Enter")
    expect(page.page.locator(".sentence h2 .said")).to_have_text("The cat saw a dog.")
    tree = page.layer("tree")
    tree.locator(".span").first.wait_for()
    tree.get_by_role("button", name="Download SVG").focus()
    press(page, "Tab", *["Tab"] * tree.locator(".certainty button").count())
    assert focused(page).startswith("ROOT, “The cat saw a dog .”, probability ")
    expect(page.page.locator("#tooltip")).to_contain_text("ROOT")
    press(page, "ArrowDown", "ArrowDown")
    assert focused(page).startswith("NP, “The cat”")
    press(page, "ArrowRight")
    assert focused(page).startswith("VP, “saw a dog”")
    press(page, "ArrowUp")
    assert focused(page).startswith("S, ")
    press(page, "Tab")
    assert focused(page) == "boundary 0, before The"
    press(page, "ArrowRight", "ArrowRight", "Enter", "ArrowRight", "Enter")
    expect(tree.get_by_label("Label")).to_be_focused()
    expect(tree.get_by_role("group", name="Constraint")).to_contain_text("“saw” (2, 3)")
    press(page, "Escape")
    assert focused(page) == "boundary 2, between cat and saw"
    press(page, "End")
    assert focused(page) == "boundary 6, behind ."


def test_readings_show_where_they_differ_from_the_first(page: Watched) -> None:
    page.parse()
    tree = page.layer("tree")
    tree.get_by_role("button", name="Readings").click()
    readings = tree.locator(".reading")
    expect(readings).to_have_count(3)
    best = parser().n_best(words(), 5, tasks=["tree"])
    expect(readings.nth(0)).to_contain_text("the one shown above")
    expect(readings.nth(0).locator("svg")).to_have_count(0)
    assert best[0].tree is not None
    first = set(map(tuple, best[0].tree.spans))
    for number, parse in enumerate(best[1:3], 1):
        assert parse.tree is not None
        expect(readings.nth(number).locator("h4")).to_contain_text(re.compile(r"\d\s%"))
        here = readings.nth(number).get_by_role("group", name="Here")
        there = readings.nth(number).get_by_role("group", name="Reading 1")
        own = set(map(tuple, parse.tree.spans))
        assert marked(here) == sorted(f"{a} {b} {label}" for a, b, label in own - first)
        assert marked(there) == sorted(f"{a} {b} {label}" for a, b, label in first - own)
        assert 0 < here.locator(".word").count() < len(words())
    expect(readings.nth(2).locator(".differences")).to_contain_text("belongs to")
    tree.get_by_label("The best readings").select_option("5")
    expect(readings).to_have_count(len(best))
    tree.get_by_role("button", name="Close").click()
    expect(readings).to_have_count(0)


def test_names_alone_are_shown_and_all_entities_again(page: Watched) -> None:
    page.parse()
    toggle = page.layer("entities").get_by_role("button", name="Names only")
    expect(page.layer("tree").get_by_role("button", name="Names only")).to_have_count(0)
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    names = parser().parse(TEXT, names=True).entities
    expected = sorted(f"{one.start} {one.end} {one.label}" for one in names)
    assert page.spans("entities") == expected
    assert expected != found(TEXT, "entities")
    page.layer("entities").get_by_role("button", name="Readings").click()  # of all entities
    expect(toggle).to_have_attribute("aria-pressed", "false")
    assert page.spans("entities") == found(TEXT, "entities")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "false")
    assert page.spans("entities") == found(TEXT, "entities")


def marked(drawings: Locator) -> list[str]:
    found = drawings.locator(".span.differs").evaluate_all(
        "all => all.map(({ dataset }) => [dataset.start, dataset.end, dataset.label].join(' '))"
    )
    return sorted(found)


def test_readings_of_entities_show_the_words_around_a_difference(page: Watched) -> None:
    page.parse(LONG)
    entities = page.layer("entities")
    entities.get_by_role("button", name="Readings").click()
    readings = entities.locator(".reading")
    expect(readings).to_have_count(3)
    first, second, _ = parser().n_best(
        list(parser().parse(LONG).only().words), 3, tasks=["entities"]
    )
    here = readings.nth(1).get_by_role("group", name="Here")
    there = readings.nth(1).get_by_role("group", name="Reading 1")
    own, other = (set(map(tuple, parse.entities or ())) for parse in (second, first))
    assert marked(here) == sorted(f"{a} {b} {label}" for a, b, label in own - other)
    assert marked(there) == sorted(f"{a} {b} {label}" for a, b, label in other - own)
    assert here.locator(".word").count() < len(first.words)


def test_a_reading_that_is_better_than_the_parse_is_pointed_out(page: Watched) -> None:
    def answer(route: Route) -> None:
        """Let the second reading, which is not shown, be the best."""
        response = route.fetch()
        told = response.json()
        first, second = told["documents"][0]["sentences"][0]["readings"][:2]
        first["entities"], second["entities"] = second["entities"], first["entities"]
        first["log_probs"]["entities"] = 0.0
        route.fulfill(response=response, json=told)

    page.parse()
    page.page.route("**/v1/parse", answer)
    page.layer("entities").get_by_role("button", name="Readings").click()
    panel = page.layer("entities").get_by_role("group", name="Readings")
    expect(panel.get_by_role("status")).to_contain_text("a better reading than the one above")
    expect(panel.locator(".reading").nth(1)).to_contain_text("the one shown above")


def test_a_reading_is_called_better_only_if_it_is(page: Watched) -> None:
    chances = [-9.0, -9.0]

    def answer(route: Route) -> None:
        response = route.fetch()
        told = response.json()
        sentence = told["documents"][0]["sentences"][0]
        for reading, log_prob in zip(sentence["readings"], chances, strict=False):
            reading["log_probs"]["tree"] = log_prob
            reading["tree"] = reading["tree"][1:]  # so that none is the one above
        route.fulfill(response=response, json=told)

    page.parse("The cat sat.")
    page.page.route("**/v1/parse", answer)
    tree = page.layer("tree")
    tree.get_by_role("button", name="Readings").click()
    note = tree.get_by_role("group", name="Readings").get_by_role("status")
    expect(note).to_contain_text("not among these, though it is no less probable")
    chances[:] = [-0.0, -1.4]
    tree.get_by_label("The best readings").select_option("2")
    expect(note).to_contain_text("a better reading than the one above, which is not among these")
    chance = tree.locator(".reading .chance")
    expect(chance).to_have_text(["100\u00a0%", "25\u00a0%, 1/4 as probable as the first"])


def ask(page: Watched, layer: str, kind: str, *, label: str = "any label") -> None:
    chooser = page.layer(layer).get_by_role("group", name="Constraint")
    group = "Tree" if layer == "tree" else "Entities"
    option = chooser.locator(f"optgroup[label={group}] option", has_text=re.compile(f"^{label}$"))
    index = option.first.evaluate("option => option.index")
    chooser.get_by_label("Label").select_option(index=index)
    chooser.get_by_role("button", name=kind).click()


def chips(page: Watched, layer: str) -> Locator:
    return page.layer(layer).get_by_role("list", name="Constraints").get_by_role("listitem")


def test_a_span_between_two_fence_posts_can_be_required_and_let_go(page: Watched) -> None:
    page.parse()
    before = page.spans("tree")
    page.choose("tree", 13, 10)
    ask(page, "tree", "Require", label="VP")
    expect(page.layer("tree").locator(".span.changed")).not_to_have_count(0)
    assert page.spans("tree") == found(TEXT, "tree", must=[(10, 13, "VP")]) != before
    assert page.spans("entities") == found(TEXT, "entities")
    expect(chips(page, "tree")).to_have_text(re.compile("require VP over “saw the man”"))
    expect(page.layer("tree").get_by_role("status")).to_contain_text("New: VP “saw the man”")
    page.layer("tree").get_by_role("button", name="Remove: require VP").click()
    expect(page.layer("tree").get_by_role("status")).to_contain_text("Gone: VP “saw the man”")
    assert page.spans("tree") == before


def test_a_span_that_is_clicked_can_be_forbidden(page: Watched) -> None:
    page.parse()
    page.layer("tree").locator(".span[data-start='11'][data-end='16'] text").click()
    page.layer("tree").get_by_role("button", name="Forbid").click()
    expect(chips(page, "tree")).to_have_text(re.compile("forbid NP over"))
    expect(
        page.layer("tree").locator(".span[data-start='11'][data-end='16'][data-label=NP]")
    ).to_have_count(0)
    assert page.spans("tree") == found(TEXT, "tree", forbid=[(11, 16, "NP")])


def test_any_label_is_asked_of_the_layer_whose_posts_were_chosen(page: Watched) -> None:
    page.parse()
    tree = page.spans("tree")
    page.choose("entities", 6, 8)
    ask(page, "entities", "Require")
    expect(page.layer("entities").locator(".span[data-start='6'][data-end='8']")).to_have_count(1)
    assert page.spans("entities") == found(TEXT, "entities", must=[(6, 8, None)])
    assert page.spans("tree") == tree


def test_a_contradiction_is_told_and_its_last_part_can_be_removed(page: Watched) -> None:
    page.parse()
    page.choose("tree", 10, 13)
    ask(page, "tree", "Require")
    expect(page.layer("tree").get_by_role("status")).to_contain_text("New")
    obeying = page.spans("tree")
    page.choose("tree", 11, 14)
    ask(page, "tree", "Require")
    note = page.layer("tree").locator(".note.refusal")
    told = "Require a span over “saw the man” and require a span over “the man with” cross"
    expect(note).to_contain_text(told)
    expect(page.layer("tree").locator(".chip.unmet")).to_contain_text("“the man with” (not met)")
    assert page.spans("tree") == obeying
    page.layer("tree").get_by_role("button", name="Play the parse").click()
    expect(note).to_contain_text(told)
    assert page.spans("tree") == obeying
    note.get_by_role("button", name="Remove the last constraint").click()
    expect(note).to_have_count(0)
    expect(chips(page, "tree")).to_have_count(1)
    assert page.spans("tree") == obeying


def test_a_constraint_is_not_met_as_long_as_nobody_answers(page: Watched) -> None:
    page.parse()
    before = page.spans("tree")
    page.page.route("**/v1/parse", lambda route: route.abort())
    page.choose("tree", 10, 13)
    ask(page, "tree", "Require", label="VP")
    note = page.layer("tree").locator(".note.refusal")
    unmet = page.layer("tree").locator(".chip.unmet")
    expect(note).to_contain_text("The server does not answer.")
    expect(unmet).to_have_count(1)
    expect(note.get_by_role("button", name="Try again")).to_be_focused()
    note.get_by_role("button", name="Remove").click()
    expect(note).to_have_count(0)
    assert focused(page) == "boundary 0, before The"
    expect(chips(page, "tree")).to_have_count(0)
    assert page.spans("tree") == before
    page.choose("tree", 10, 13)
    ask(page, "tree", "Require", label="VP")
    expect(unmet).to_have_count(1)
    page.page.unroute("**/v1/parse")
    note.get_by_role("button", name="Try again").click()
    expect(page.layer("tree").get_by_role("status")).to_contain_text("New: VP “saw the man”")
    expect(unmet).to_have_count(0)
    expect(chips(page, "tree")).to_have_count(1)
    assert page.spans("tree") == found(TEXT, "tree", must=[(10, 13, "VP")])


def test_a_sentence_that_is_too_long_to_ask_about_is_only_shown(desktop: BrowserContext) -> None:
    with served(Settings(max_close_words=5)) as address, opened(desktop, address) as page:
        page.parse("The old cat saw the small dog in May.")
        tree = page.layer("tree")
        for name in ("Readings", "Play the parse"):
            button = tree.get_by_role("button", name=name)
            expect(button).to_be_disabled()
            expect(button).to_have_attribute("title", re.compile("up to 5 words"))
        expect(tree.get_by_text("are for up to 5 words.")).to_be_visible()
        tree.locator(".span text").first.click()
        expect(tree.get_by_role("group", name="Constraint")).to_be_hidden()
        expect(tree.get_by_role("button", name="boundary")).to_have_count(0)


def scale(page: Watched) -> float:
    """How large the tree is drawn."""
    size = (
        page.layer("tree")
        .locator("> .drawing svg")
        .evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
    )
    return float(size)


def test_a_long_sentence_fits_its_place_and_can_be_enlarged_and_moved(page: Watched) -> None:
    page.parse(LONG)
    tree = page.layer("tree")
    holder = tree.locator("> .drawing")
    zoom = tree.get_by_role("group", name="Zoom")
    assert not holder.evaluate("holder => holder.scrollWidth > holder.clientWidth")
    expect(tree.locator("svg.turned")).to_have_count(1)  # words are turned, so that it is legible
    fitted = scale(page)
    assert 0.45 < fitted < 1
    zoom.get_by_role("button", name="Larger").click()
    assert scale(page) == pytest.approx(1.35 * fitted, rel=0.01)
    expect(zoom.get_by_role("status")).to_have_text(f"{round(135 * fitted)}\u00a0%")
    assert holder.evaluate("holder => holder.scrollWidth > holder.clientWidth")
    tree.locator(".span").first.focus()
    press(page, "+", "+")
    assert scale(page) == pytest.approx(1.35**3 * fitted, rel=0.01)
    before = holder.evaluate("holder => holder.scrollLeft")
    box = holder.bounding_box()
    assert box is not None
    page.page.mouse.move(box["x"] + 400, box["y"] + 8)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 300, box["y"] + 8)
    page.page.mouse.up()
    assert holder.evaluate("holder => holder.scrollLeft") == pytest.approx(before + 100, abs=2)
    tree.locator(".span").first.focus()
    press(page, "0")
    assert scale(page) == pytest.approx(fitted)
    zoom.get_by_role("button", name="Larger").click()
    zoom.get_by_role("button", name="Fit").click()
    assert scale(page) == pytest.approx(fitted)
    page.parse("It rained.")
    expect(zoom).to_be_hidden()


def test_a_tree_is_enlarged_around_the_pointer(page: Watched) -> None:
    page.parse(LONG)
    label = page.layer("tree").locator(".span[data-label=WHNP] .ring").first
    before = label.bounding_box()
    assert before is not None
    label.hover()
    page.page.keyboard.down("Control")
    page.page.mouse.wheel(0, -200)
    page.page.keyboard.up("Control")
    fitted = scale(page)
    page.page.wait_for_function(
        "scale => document.querySelector('.tree .zoomed') !== null", arg=fitted
    )
    after = label.bounding_box()
    assert after is not None
    assert after["width"] > 1.5 * before["width"]
    assert after["x"] + after["width"] / 2 == pytest.approx(
        before["x"] + before["width"] / 2, abs=6
    )


def test_boxes_wrap_like_text(browser: Browser, page_address: str) -> None:
    with window(browser, size=PHONE) as phone, opened(phone, page_address) as page:
        page.parse()
        text = page.layer("entities").locator(".boxes")
        lines = text.evaluate(
            """text => new Set(
                [...text.querySelectorAll(".word")].map((word) => word.offsetTop)).size"""
        )
        pieces = text.locator(".span").first.evaluate("box => box.getClientRects().length")
        assert lines > 2
        assert pieces > 1
        assert page.overflow() == 0
        assert page.spans("entities") == found(TEXT, "entities")


def test_the_first_visit_shows_a_parse(desktop: BrowserContext, page_address: str) -> None:
    with opened(desktop, page_address) as page:
        page.layer("tree").locator(".word").first.wait_for()
        assert page.spans("tree") == found(TEXT, "tree")
        assert "#" not in page.page.url
        expect(page.page.get_by_role("heading", name="Look")).to_be_visible()
        page.parse("It rained.")
        expect(page.page.get_by_role("heading", name="Look")).to_be_hidden()
        page.page.go_back()


def test_the_least_sure_spans_are_told_marked_and_found(page: Watched) -> None:
    page.parse()
    parse = parser().parse(TEXT).only()
    assert parse.tree is not None
    least = min(parse.tree.spans, key=lambda span: span.probability or 1)
    assert least.probability is not None
    tree = page.layer("tree")
    first = tree.get_by_role("group", name="Least sure").get_by_role("button").first
    said = " ".join(parse.words[least.start : least.end])
    expect(first).to_have_text(
        f"{least.label} “{said}” {least.probability:.0%}".replace("%", "\u00a0%")
    )
    marks = tree.locator(".span.doubtful")
    expect(marks).to_have_count(sum((span.probability or 1) < 0.9 for span in parse.tree.spans))
    first.click()
    assert focused(page).startswith(f"{least.label}, “{said}”")
    expect(page.page.locator("#tooltip")).to_contain_text(said)
    page.parse("It rained.")
    other = parser().parse("It rained.").tree
    assert other is not None
    sure = min(span.probability or 0 for span in other.spans)
    expect(tree.locator(".certainty")).to_have_text(
        re.compile(rf"Sure of every span: at least {100 * sure:.0f}\s%\.")
    )


def test_a_text_of_several_sentences_can_be_read_as_a_whole(page: Watched) -> None:
    page.parse("Ann met Bo. It rained.\n\nThe director of the Museum slept.")
    whole = page.page.get_by_role("region", name="The whole text")
    expect(whole.locator(".paragraph")).to_have_count(2)
    expect(whole.locator(".paragraph").first.locator(".word")).to_have_count(7)
    entities = [e for p in parser().parse("Ann met Bo.").sentences for e in p.entities or ()]
    expect(whole.locator(".boxes").first.locator(".span")).to_have_count(len(entities))
    whole.get_by_role("button", name="Sentence 3").click()
    expect(page.page.get_by_role("article", name="Sentence 3")).to_be_focused()
    page.parse("It rained.")
    expect(whole).to_have_count(0)


def search(page: Watched, pattern: str, layer: str = "trees") -> Locator:
    """Search the parses; the line that says what was found."""
    form = page.page.get_by_role("search")
    if not form.is_visible():
        page.page.get_by_text("Search the parses").click()
    form.get_by_label("A label, a word or a pattern").fill(pattern)
    form.get_by_label("In", exact=True).select_option(layer)
    form.get_by_role("button", name="Search").click()
    return page.page.locator(".finding .note")


def test_the_parses_are_searched_with_patterns(page: Watched) -> None:
    text = "Ann met the director of the Museum. The old dog slept in Oslo."
    page.parse(text)
    document = parser().parse(text)
    pattern = "NP|NNP | dog"
    matches = list(document.find(pattern))
    line = search(page, pattern)
    expect(line).to_have_text(f"{len(matches)} matches in 2 sentences.")
    listed = page.page.locator(".matches li")
    expect(listed).to_have_count(len(matches))
    for number, match in enumerate(matches):
        expect(listed.nth(number)).to_contain_text(f"“{match.text}”")
        expect(listed.nth(number).locator(".number")).to_have_text(str((match.sentence or 0) + 1))
    phrases = [match for match in matches if match.sentence == 0 and match.node.kind == "phrase"]
    expect(page.layer("tree").locator(".span.found")).to_have_count(len(phrases))
    phrase = next(match for match in matches if match.sentence and match.node.kind == "phrase")
    listed.nth(matches.index(phrase)).get_by_role("button").click()
    assert focused(page).startswith(f"{phrase.label}, “{phrase.text}”")
    types = [entity.label for entity in document.entities]
    expect(search(page, str(types[0]), "entities")).to_contain_text("match")
    expect(page.page.locator(".entities .span.found")).to_have_count(types.count(types[0]))
    expect(page.page.locator(".tree .found")).to_have_count(0)
    page.parse("It rained in Oslo.")
    box = page.page.get_by_role("search").get_by_label("In", exact=True)
    expect(box).to_have_value("entities")


def test_a_search_follows_a_new_text_and_says_what_is_wrong_with_a_pattern(page: Watched) -> None:
    page.parse("Ann slept.")
    expect(search(page, "slept")).to_have_text("1 match in 1 sentence.")
    page.page.locator(".matches button").click()
    expect(page.page.get_by_role("article", name="Sentence 1")).to_be_focused()
    page.parse("Dogs slept. They slept.")
    expect(page.page.locator(".finding .note")).to_have_text("2 matches in 2 sentences.")
    expect(search(page, "purple")).to_have_text("No match.")
    expect(search(page, "NP < (")).to_contain_text("Character 7: ")
    expect(search(page, "NP=x")).to_contain_text("only in fencepost search")
    expect(search(page, "")).to_have_text("")
    expect(page.page.locator(".found")).to_have_count(0)


@pytest.mark.parametrize("layer", ["tree", "entities"])
def test_playing_to_the_end_leaves_exactly_the_parse(page: Watched, layer: str) -> None:
    page.parse()
    own = page.layer(layer)
    player = own.get_by_role("group", name="Player")
    # The parse of greedy search is played, which need not be that of the model's own beams.
    own.get_by_role("button", name="Play the parse").click()
    player.get_by_role("button", name="Close").click()
    before = page.spans(layer)
    drawing = own.locator("> .drawing").inner_html()
    own.get_by_role("button", name="Play the parse").click()
    line = player.locator(".step")
    expect(line).to_contain_text("Before the first of")
    assert page.spans(layer) == []
    steps = list(parser().steps(words(), tasks=[layer]))
    seen: set[str] = set()
    for step in steps:
        player.get_by_role("button", name="Forward").click()
        expect(line).to_contain_text(
            f"Step {step.number} of {len(steps)}: from {step.cursor} "
            f"the pointer goes to {step.boundary} "
        )
        expect(own.locator(".bar.candidate")).to_have_count(len(step.candidates))
        expect(own.locator(".bar.taken")).to_have_attribute("data-boundary", str(step.boundary))
        assert own.locator(".filler").is_visible() == (step.span.label is None)
        new = set(page.spans(layer)) - seen
        assert bool(new) == (step.span.label is not None)
        assert all(span.startswith(f"{step.span.start} {step.span.end} ") for span in new)
        seen |= new
    assert page.spans(layer) == before
    player.get_by_role("button", name="Close").click()
    expect(own.get_by_role("button", name="Play the parse")).to_be_focused()
    assert own.locator("> .drawing").inner_html() == drawing


def test_the_numbers_of_a_player_stand_beside_words_and_not_on_them(page: Watched) -> None:
    page.parse()
    entities = page.layer("entities")
    entities.get_by_role("button", name="Play the parse").click()
    expect(entities.get_by_role("group", name="Player")).to_be_visible()
    overlapping = entities.locator(".drawing").evaluate(
        """drawing => {
            const [numbers, words] = [".number", ".word"].map((name) =>
                [...drawing.querySelectorAll(name)].map((one) => one.getBoundingClientRect()));
            return numbers.filter((one) => words.some((word) =>
                one.top < word.bottom && word.top < one.bottom &&
                one.left + 1 < word.right && word.left + 1 < one.right)).length;
        }"""
    )
    assert overlapping == 0


def test_the_percentages_of_a_player_are_not_cut_off(page: Watched) -> None:
    page.parse("The cat saw a dog.")
    tree = page.layer("tree")
    tree.get_by_role("button", name="Play the parse").click()
    tree.get_by_role("button", name="To end").click()
    expect(tree.locator(".bar.taken text")).to_contain_text("%")
    outside = tree.locator(".bar text").evaluate_all(
        """texts => texts.filter((text) => {
            const own = text.getBoundingClientRect();
            const all = text.ownerSVGElement.getBoundingClientRect();
            return own.width && (own.left < all.left || own.right > all.right);
        }).length"""
    )
    assert outside == 0


def test_a_player_steps_back_scrubs_and_obeys_the_keys(page: Watched) -> None:
    page.parse("The cat saw a dog.")
    tree = page.layer("tree")
    tree.get_by_role("button", name="Play the parse").click()
    line, scrubber = tree.locator(".step"), tree.get_by_role("slider", name="Step")
    expect(tree.get_by_role("button", name="Play", exact=True)).to_be_focused()
    press(page, "ArrowRight", "ArrowRight", "ArrowLeft")
    expect(line).to_contain_text("Step 1 of")
    press(page, "End")
    assert page.spans("tree") == found("The cat saw a dog.", "tree")
    press(page, "Home")
    assert page.spans("tree") == []
    scrubber.fill("2")
    expect(line).to_contain_text("Step 2 of")
    tree.get_by_role("button", name="Back").click()
    expect(line).to_contain_text("Step 1 of")
    expect(scrubber).to_have_value("1")
    scrubber.focus()
    press(page, "Space")
    expect(tree.get_by_role("button", name="Pause")).to_be_visible()
    press(page, "Space")
    expect(tree.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_escape_closes_the_player_and_gives_the_focus_back(page: Watched) -> None:
    page.parse("The cat saw a dog.")
    tree = page.layer("tree")
    play = tree.get_by_role("button", name="Play the parse")
    play.click()
    expect(tree.get_by_role("group", name="Player")).to_be_visible()
    tree.locator("> .drawing").focus()
    press(page, "Escape")
    expect(tree.get_by_role("group", name="Player")).to_have_count(0)
    expect(play).to_be_focused()
    assert page.spans("tree") == found("The cat saw a dog.", "tree")


def test_escape_goes_back_to_the_span_that_was_chosen(page: Watched) -> None:
    page.parse("The cat saw a dog.")
    tree = page.layer("tree")
    tree.locator(".span[data-label=VP] text").click()
    expect(tree.get_by_label("Label")).to_be_focused()
    press(page, "Escape")
    assert focused(page).startswith("VP, “saw a dog”")


def test_a_parse_is_played_by_itself_up_to_its_end(browser: Browser, page_address: str) -> None:
    with window(browser, still=False) as moving, opened(moving, page_address) as page:
        page.page.clock.install()
        page.parse("The cat sat.")
        tree = page.layer("tree")
        tree.get_by_role("button", name="Play the parse").click()
        expect(tree.get_by_role("button", name="Pause")).to_be_focused()
        tree.get_by_label("Speed").select_option("4×")
        page.page.clock.run_for(30_000)
        expect(tree.get_by_role("button", name="Play", exact=True)).to_be_visible()
        assert page.spans("tree") == found("The cat sat.", "tree")


def test_light_and_dark_are_chosen_and_kept(browser: Browser, page_address: str) -> None:
    with window(browser) as context, opened(context, page_address) as page:

        def paper() -> str:
            return str(page.page.evaluate("getComputedStyle(document.body).backgroundColor"))

        light = paper()
        page.page.get_by_label("Dark").check(force=True)
        dark = paper()
        assert dark != light
        page.page.reload()
        assert paper() == dark
        page.page.get_by_label("System").check(force=True)
        assert paper() == light
        page.page.emulate_media(color_scheme="dark")
        assert paper() == dark


def test_the_drawings_have_the_colours_of_the_package(page: Watched) -> None:
    answer = page.page.request.get(f"{page.address}static/drawing.css")
    assert answer.text() == STYLE
    page.parse()
    label = page.layer("tree").locator("text.label").first
    colour = "element => getComputedStyle(element).fill"
    light = label.evaluate(colour)
    page.page.get_by_label("Dark").check(force=True)
    assert label.evaluate(colour) != light != "rgb(0, 0, 0)"


def test_paper_is_light_and_nothing_plays_on_it(browser: Browser, page_address: str) -> None:
    with window(browser) as context, opened(context, page_address) as page:
        page.parse("The cat sat.")
        label = page.layer("tree").locator("text.label").first
        colour = "element => getComputedStyle(element).fill"
        light = label.evaluate(colour)
        page.layer("tree").get_by_role("button", name="Play the parse").click()
        expect(page.layer("tree").get_by_role("group", name="Player")).to_be_visible()
        for theme in ("Dark", "System"):
            page.page.get_by_label(theme).check(force=True)
            page.page.emulate_media(media="print", color_scheme="dark")
            assert label.evaluate(colour) == light
            page.page.emulate_media(media="screen", color_scheme="dark")
            assert label.evaluate(colour) != light
        page.page.pdf()
        expect(page.layer("tree").get_by_role("group", name="Player")).to_have_count(0)


def test_nothing_is_wider_than_a_phone(browser: Browser, page_address: str, tmp_path: Path) -> None:
    with (
        window(browser, size=PHONE, scheme="dark") as phone,
        opened(phone, page_address) as page,
    ):
        assert page.overflow() == 0
        page.parse(f"{TEXT} Pneumonoultramicroscopicsilicovolcanoconiosis{'x' * 60}!")
        assert page.overflow() == 0
        tree = page.layer("tree")
        page.choose("tree", 2, 4)
        assert page.overflow() == 0
        ask(page, "tree", "Forbid")
        expect(chips(page, "tree")).to_have_count(1)
        tree.get_by_role("button", name="Readings").click()
        expect(tree.locator(".reading")).to_have_count(3)
        assert page.overflow() == 0
        tree.get_by_role("button", name="Play the parse").click()
        tree.get_by_role("button", name="Forward").click()
        assert page.overflow() == 0
        low = page.page.locator("button:visible, select:visible").evaluate_all(
            """elements => elements
                .filter((element) => element.getBoundingClientRect().height < 44)
                .map((element) => element.textContent)"""
        )
        assert low == []
        picture = tmp_path / "phone.png"
        page.page.screenshot(path=picture, full_page=True)
        assert picture.stat().st_size > 10_000


def refused(route: Route) -> None:
    error = {"status": 503, "message": "64 requests wait already"}
    route.fulfill(status=503, json={"error": error}, headers={"Retry-After": "2"})


def test_refusals_are_told_in_words(page: Watched) -> None:
    message = page.page.locator("#message")
    submit = page.page.get_by_role("button", name="Parse", exact=True)
    page.page.route("**/v1/parse", refused)
    submit.click()
    expect(message).to_have_text(
        "The server is busy. 64 requests wait already. Try again in 2 seconds."
    )
    page.page.unroute("**/v1/parse")
    page.page.route("**/v1/parse", lambda route: route.abort())
    submit.click()
    expect(message).to_contain_text("The server does not answer.")
    page.page.unroute("**/v1/parse")
    page.parse("It rained.")
    expect(message).to_have_text("1 sentence.")


def test_what_is_too_long_is_told_with_the_limit(desktop: BrowserContext) -> None:
    limits = Settings(max_body=1000, max_words=100)
    with served(limits) as address, opened(desktop, address) as page:
        message = page.page.locator("#message")
        text = page.page.get_by_label("Text", exact=True)
        for given, told in (
            ("so " * 101, "at most 100 words, not 101"),
            ("so " * 332, "This is more than the server takes at once."),  # with all around it
            ("so " * 400, "This text has 1,202 bytes, and the server takes 1,000 at once."),
            (" ", "Write a text first."),
        ):
            text.fill(given)
            text.press("Control+Enter")
            expect(message).to_contain_text(told)


def test_a_newer_text_takes_the_place_of_an_older_one(page: Watched) -> None:
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.page.route("**/v1/parse", hold_first)
    text = page.page.get_by_label("Text", exact=True)
    text.fill("The first.")
    page.page.get_by_role("button", name="Parse", exact=True).click()
    expect(page.page.get_by_role("button", name="Parsing …")).to_be_visible()
    with page.page.expect_event("requestfailed") as given_up:
        text.fill("The second.")
        page.page.get_by_role("button", name="Parsing …").click()
    assert json.loads(given_up.value.post_data or "")["text"] == "The first."
    expect(page.page.locator(".said")).to_have_text("The second.")
    expect(page.page.get_by_role("button", name="Parse", exact=True)).to_be_visible()


def test_an_emptied_field_takes_back_what_was_asked(page: Watched) -> None:
    page.page.route("**/v1/parse", lambda route: None)  # which is never answered
    page.page.get_by_role("button", name="Parse", exact=True).click()
    waiting = page.page.get_by_role("button", name="Parsing …")
    expect(waiting).to_be_visible()
    page.page.get_by_label("Text", exact=True).fill(" ")
    waiting.click()
    expect(page.page.locator("#message")).to_have_text("Write a text first.")
    expect(page.page.get_by_role("button", name="Parse", exact=True)).to_be_visible()


def test_a_token_is_asked_for_until_it_is_right_and_then_used(desktop: BrowserContext) -> None:
    with served(Settings(token="open sesame")) as address, opened(desktop, address) as page:
        page.page.get_by_role("button", name="Parse", exact=True).click()
        message = page.page.locator("#message")
        expect(message).to_have_text("This server wants a token.")
        field = page.page.get_by_label("Token of this server")
        expect(field).to_be_focused()
        for wrong in ("close sesame", "ouvre-toi, sésame", "ouvre-toi 🙂"):
            field.fill(wrong)
            field.press("Enter")
            expect(message).to_have_text("This token is not right.")
            expect(field).to_be_focused()
            expect(field).to_have_value("")
        page.page.reload()  # nothing of it is kept
        page.page.get_by_role("button", name="Parse", exact=True).click()
        expect(message).to_have_text("This server wants a token.")
        field.fill("open sesame")
        field.press("Enter")
        expect(page.page.locator(".sentence")).to_have_count(1)
        expect(field).to_be_hidden()
        page.layer("tree").get_by_role("button", name="Readings").click()
        expect(page.layer("tree").locator(".reading")).to_have_count(3)


def test_a_drawing_is_downloaded_with_its_colours(page: Watched) -> None:
    page.parse("The cat sat.")
    with page.page.expect_download() as download:
        page.layer("tree").get_by_role("button", name="Download SVG").click()
    assert download.value.suggested_filename == "tree-1.svg"
    svg = download.value.path().read_text()
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert root[0].text == STYLE
    assert "cat" in "".join(root.itertext())
    with page.page.expect_download() as download:
        page.layer("entities").get_by_role("button", name="Download SVG").click()
    root = ElementTree.fromstring(download.value.path().read_text())
    assert "cat" in "".join(root.itertext())
    boxes = [rect for rect in root.iter() if rect.tag.endswith("rect")]
    assert len(boxes) == 2 * len(found("The cat sat.", "entities")) > 0


def test_a_download_that_fails_is_told(page: Watched) -> None:
    page.parse("The cat sat.")
    page.page.route("**/static/drawing.css", lambda route: route.abort())
    page.layer("tree").get_by_role("button", name="Download SVG").click()
    expect(page.layer("tree").locator(".note.refusal")).to_contain_text("cannot be downloaded")


def copied(page: Watched, place: Locator, name: str) -> str:
    """What a button puts into the clipboard."""
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    place.get_by_role("button", name=name).click()
    expect(place.locator(".copying").get_by_role("status")).to_contain_text("Copied.")
    return str(page.page.evaluate("navigator.clipboard.readText()"))


def test_a_parse_is_copied_as_brackets(page: Watched) -> None:
    for text in ("The cat (a dog) sat.", "Ann slept."):
        page.parse(text)
        card = page.page.locator(".sentence").first
        assert copied(page, card, "Copy as brackets") == str(parser().parse(text).tree)


def test_the_python_that_is_copied_finds_the_same(
    page: Watched, capsys: pytest.CaptureFixture[str]
) -> None:
    page.parse()
    card = page.page.locator(".sentence").first
    plain = copied(page, card, "Copy as Python")
    assert 'fencepost.load("en-small")' in plain
    exec(plain, {})
    printed = capsys.readouterr().out.splitlines()
    parse = parser().parse(TEXT).only()
    assert printed[0] == str(parse.tree)
    assert len(printed) == 1 + len(parse.entities or ())
    page.choose("tree", 10, 13)
    ask(page, "tree", "Require", label="VP")
    expect(page.layer("tree").get_by_role("status").last).to_contain_text("New")
    exec(copied(page, card, "Copy as Python"), {})
    obeying = parser().parse(words(), must=[(10, 13, "VP")], tasks=["tree"]).only()
    assert capsys.readouterr().out.splitlines()[0].count("(") == str(obeying.tree).count("(")
    page.parse()
    page.layer("entities").get_by_role("button", name="Names only").click()
    names = parser().parse(TEXT, names=True).entities
    expect(page.layer("entities").locator("> .drawing .span")).to_have_count(len(names))
    exec(copied(page, card, "Copy as Python"), {})
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(names)


def test_a_link_has_the_text_behind_the_hash(page: Watched) -> None:
    page.parse("C+ is 50 % & more. It rained.")
    whole = page.page.get_by_role("region", name="The whole text")
    link = copied(page, whole, "Copy link")
    assert link.startswith(f"{page.address}#text=")
    page.page.goto("about:blank")
    page.page.goto(link)
    expect(page.page.get_by_label("Text", exact=True)).to_have_value(
        "C+ is 50 % & more. It rained."
    )
    expect(page.page.locator(".sentence")).to_have_count(2)


def test_what_cannot_be_copied_is_selected(page: Watched) -> None:
    page.parse("The cat sat.")
    page.page.evaluate("""() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
    }""")
    card = page.page.locator(".sentence").first
    card.get_by_role("button", name="Copy as brackets").click()
    expect(card.locator(".copied")).to_have_text(str(parser().parse("The cat sat.").tree))
    assert page.page.evaluate("getSelection().toString()").startswith("(ROOT")


def test_what_has_not_come_near_is_drawn_when_one_of_its_buttons_is_pressed(page: Watched) -> None:
    page.parse("The cat sat. " * 12)
    card = page.page.locator(".sentence").last
    assert card.locator(".word").count() == 0
    tree = card.locator(".layer.tree")
    tree.get_by_role("button", name="Play the parse").evaluate("button => button.click()")
    tree.get_by_role("button", name="Forward").wait_for()


def test_labels_have_the_colours_of_the_package(page: Watched) -> None:
    labels = ["NP", "VP-SBJ", "person", "é", "-LRB-", "x" * 200, *parser().labels["tree"]]
    kinds = page.page.evaluate(
        """async (labels) => {
            const { kindOf } = await import(new URL("static/looks.js", location.href));
            return labels.map(kindOf);
        }""",
        labels,
    )
    assert kinds == [kind(label) for label in labels]


WEAK = """
import { start } from "./app.js";
import { server } from "./server.js";

start({
  ...server,
  can: { readings: false, constraints: false, steps: false, token: false },
  privacy: "Nothing is sent.",
  example: { text: "It slept.", sentences: [{ words: ["It", "slept"], tree: [[0, 2, "S"]] }] },
  parseText(text, { onProgress }) {
    onProgress({ what: "Loading the model", share: 0.5 });
    return new Promise(() => {});
  },
});
"""


def test_only_what_a_provider_can_do_is_offered(desktop: BrowserContext, page_address: str) -> None:
    with opened(desktop, page_address) as page:
        page.page.route(
            "**/static/main.js",
            lambda route: route.fulfill(body=WEAK, content_type="text/javascript"),
        )
        page.page.reload()
        tree = page.layer("tree")
        expect(tree.locator(".word")).to_have_count(2)
        expect(page.page.get_by_label("Text", exact=True)).to_have_value("It slept.")
        expect(page.page.locator("#privacy")).to_have_text("Nothing is sent.")
        for name in ("Readings", "Play the parse"):
            expect(tree.get_by_role("button", name=name)).to_have_count(0)
        expect(tree.locator(".drawing [role=button]")).to_have_count(0)
        expect(page.layer("entities")).to_have_count(0)
        page.page.get_by_role("button", name="Parse", exact=True).click()
        bar = page.page.get_by_role("progressbar", name="Loading the model")
        expect(bar).to_have_attribute("value", "0.5")
        page.page.get_by_role("button", name="Cancel").click()
        expect(page.page.locator("#message")).to_have_text("Cancelled.")
        expect(tree.locator(".word")).to_have_count(2)


def test_many_sentences_are_drawn_when_they_come_near(page: Watched) -> None:
    page.parse("It rained. " * 60)
    cards = page.page.locator(".sentence")
    expect(cards).to_have_count(60)
    expect(cards.last.locator("svg")).to_have_count(0)
    cards.last.scroll_into_view_if_needed()
    expect(cards.last.locator(".drawing :is(svg, .boxes)")).to_have_count(2)
