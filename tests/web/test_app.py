"""Each route of the server: what it answers, and what it refuses."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

import fencepost
from fencepost.config import SearchSettings
from fencepost.parser.inputs import PreparedInput, prepare_input
from fencepost.parser.parser import Parser
from fencepost.structure import Document, Sentence
from fencepost.web import app as module
from fencepost.web.jobs import Job, parse_alone, parse_together
from fencepost.web.schemas import EXAMPLES
from fencepost.web.settings import Settings
from tests.web.serving import PARSER, Watched, client, parsed, refused

TEXT = "The cat sat on the mat.  It slept,\n\nand (b) ate 🐟 at Dr. Bo's."
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server() -> Iterator[TestClient]:
    with client() as opened:
        yield opened


def counts(server: TestClient) -> dict[tuple[str, ...], float]:
    """All that is counted, by name and labels."""
    response = server.get("/metrics")
    assert response.status_code == 200
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


class TestParse:
    def test_a_text_gives_the_document_that_the_parser_gives(self, server: TestClient) -> None:
        answer = parsed(server, text=TEXT)
        assert answer["model"] == "en-small"
        (document,) = map(Document.from_dict, answer["documents"])
        expected = PARSER.parse(TEXT)
        assert document == expected
        assert [parse.log_prob for parse in document.sentences] == pytest.approx(
            [parse.log_prob for parse in expected.sentences], abs=1e-4
        )

    def test_words_are_one_sentence_and_are_not_split(self, server: TestClient) -> None:
        (document,) = parsed(server, words=["isn't", "a.", " "])["documents"]
        assert document["text"] is None
        (plain,) = document["sentences"]
        assert plain["words"] == ["isn't", "a.", " "]
        assert "brackets" not in plain  # which could not say the blank
        assert Document.from_dict(document) == PARSER.parse(Sentence(("isn't", "a.", " ")))

    def test_many_inputs_give_as_many_documents_in_order(self, server: TestClient) -> None:
        inputs = ["Dogs bark.", ["a", "b"], "", [], "It slept. It ate."]
        answer = parsed(server, inputs=inputs)
        found = [Document.from_dict(one) for one in answer["documents"]]
        assert found == [PARSER.parse(one) for one in inputs]
        assert [document.text for document in found] == ["Dogs bark.", None, "", None, inputs[-1]]

    @pytest.mark.parametrize("asked", [{"text": ""}, {"words": []}, {"inputs": [" ", []]}])
    def test_nothing_gives_documents_without_sentences(
        self, server: TestClient, asked: dict[str, Any]
    ) -> None:
        for document in parsed(server, **asked)["documents"]:
            assert (document["status"], document["sentences"]) == ("ok", [])
        assert parsed(server, inputs=[])["documents"] == []

    def test_a_tree_comes_with_its_brackets(self, server: TestClient) -> None:
        (plain,) = parsed(server, words=["a", "b", "c"])["documents"][0]["sentences"]
        assert plain["brackets"] == str(PARSER.parse(["a", "b", "c"]).tree)
        (plain,) = parsed(server, words=["a"], tasks=["entities"])["documents"][0]["sentences"]
        assert "brackets" not in plain
        assert "tree" not in plain

    def test_options_reach_the_parser(self, server: TestClient) -> None:
        options: dict[str, Any] = {
            "tasks": ["tree", "entities"],
            "beams": 3,
            "labels": ["S", "NP", "VP"],
            "root": "S",
            "consistent": True,
            "gazetteer": {"b c": "NP"},
            "min_probability": 0.1,
        }
        (found,) = parsed(server, words=list("abcab"), **options)["documents"]
        assert Document.from_dict(found) == PARSER.parse(list("abcab"), **options)

    def test_a_model_searches_as_wide_as_it_says(self) -> None:
        wide = Parser(replace(PARSER.model, search=SearchSettings(beams=4)))
        words = list("abcabcba")
        with client(parser=wide) as server:
            asked: tuple[tuple[dict[str, Any], int], ...] = (
                ({}, 4),
                ({"beams": 1}, 1),
                ({"steps": True}, 1),
            )
            for options, beams in asked:
                (found,) = parsed(server, words=words, **options)["documents"]
                assert Document.from_dict(found) == PARSER.parse(words, beams=beams)

    @pytest.mark.parametrize("must", [[[1, 3]], [[1, 3, None]], [[1, 3, "S"], [1, 2]]])
    def test_required_and_forbidden_spans_are_obeyed(
        self, server: TestClient, must: list[list[Any]]
    ) -> None:
        answer = parsed(server, text="a b c a", must=must, forbid=[[0, 2]])
        (parse,) = Document.from_dict(answer["documents"][0]).sentences
        assert parse.tree is not None
        places = {span[:2] for span in parse.tree.spans}
        assert {tuple(row[:2]) for row in must} <= places
        assert (0, 2) not in places
        assert parse.rank is None
        spans = [(*row, None)[:3] for row in must]
        assert parse == PARSER.parse("a b c a", must=spans, forbid=[(0, 2, None)]).sentences[0]

    def test_several_readings_come_with_what_differs(self, server: TestClient) -> None:
        answer = parsed(server, text="It slept. It ate a b.", n_best=3)
        (document,) = answer["documents"]
        for plain in document["sentences"]:
            first, *others = plain["readings"]
            assert {key: plain[key] for key in first} == first
            assert [reading["rank"] for reading in plain["readings"]] == [1, 2, 3]
            assert "differences" not in first
            for reading in others:
                assert re.search(f"reading (1|{reading['rank']}):", reading["differences"])
        expected = PARSER.n_best("It slept.", 3)
        found = document["sentences"][0]["readings"]
        assert [one["brackets"] for one in found] == [str(parse.tree) for parse in expected]
        assert [parse.rank for parse in Document.from_dict(document).sentences] == [1, 1]

    def test_steps_end_in_the_parse(self, server: TestClient) -> None:
        answer = parsed(server, words=list("abcab"), steps=True)
        (plain,) = answer["documents"][0]["sentences"]
        assert list(plain["steps"]) == ["tree", "entities"]
        for layer, steps in plain["steps"].items():
            assert [step["number"] for step in steps] == list(range(1, len(steps) + 1))
            places = {(step["start"], step["end"]) for step in steps if step["label"] is not None}
            assert places == {tuple(row[:2]) for row in plain[layer]}
            for step in steps:
                chances = dict(step["candidates"])
                assert sum(chances.values()) == pytest.approx(1, abs=1e-4)
                assert step["boundary"] in chances
                assert {step["start"], step["end"]} == {step["cursor"], step["boundary"]}
                point = chances[step["boundary"]] * step["label_probability"]
                assert step["probability"] == pytest.approx(point, rel=1e-4)
                assert step["runner_up"] is None or len(step["runner_up"]) == 2

    def test_drawings_come_along_if_asked_for(self, server: TestClient) -> None:
        (plain,) = parsed(server, words=["<b>", "&"], draw=True)["documents"][0]["sentences"]
        assert plain["svg"]["tree"].startswith("<svg ")
        assert plain["svg"]["entities"].startswith("<svg ")
        assert "<b>" not in plain["svg"]["tree"]
        assert 'data-boundary="2"' in plain["svg"]["tree"]
        answer = parsed(server, words=["a", "b"], draw=True, n_best=2, tasks=["tree"])
        for reading in answer["documents"][0]["sentences"][0]["readings"]:
            assert list(reading["svg"]) == ["tree"]
        (plain,) = parsed(server, words=["a"], draw=True, tasks=["entities"])["documents"][0][
            "sentences"
        ]
        assert list(plain["svg"]) == ["entities"]

    @pytest.mark.parametrize("asked", [{}, {"n_best": 2}, {"draw": True}])
    def test_probabilities_can_be_left_out(self, server: TestClient, asked: dict[str, Any]) -> None:
        with_them = parsed(server, words=list("abcab"), **asked)
        without = parsed(server, words=list("abcab"), probabilities=False, **asked)
        told = [json.dumps(answer["documents"]) for answer in (with_them, without)]
        # Spans of four, what is said of whole layers, and what drawings tell.
        for sign in (
            r'"S", 0\.\d',
            "log_probs",
            *(["data-probability"] if "draw" in asked else []),
        ):
            assert [bool(re.search(sign, text)) for text in told] == [True, False]
        first, second = (Document.from_dict(one["documents"][0]) for one in (with_them, without))
        assert first == second

    def test_a_sentence_that_is_too_long_has_a_status(self) -> None:
        parser = Parser(PARSER.model, max_words=3)
        with client(parser=parser) as server:
            for asked in ({}, {"n_best": 2}, {"steps": True}):
                answer = parsed(server, inputs=["a b c", "a b c a"], **asked)
                fine, long = answer["documents"]
                assert fine["status"] == "ok"
                assert "4 words is longer than 3" in long["status"]
                assert (long["sentences"], long["text"]) == ([], "a b c a")

    def test_what_cannot_be_split_has_a_status_and_takes_no_other_down(self) -> None:
        given = (PreparedInput((), "x", "why not"), prepare_input("a b"))
        for job in (
            Job(given, PARSER.check_options()),
            Job(given, PARSER.check_options(), n_best=2),
        ):
            found = parse_alone(PARSER, job) if job.is_alone else parse_together(PARSER, [job])[0]
            wrong, fine = (one.document for one in found)
            assert (wrong.status[-7:], wrong.text, wrong.sentences) == ("why not", "x", ())
            assert fine == PARSER.parse("a b")

    def test_one_of_several_inputs_that_cannot_obey_has_a_status(self, server: TestClient) -> None:
        asked: dict[str, Any] = {"labels": ["NP", "VP"], "gazetteer": {"b": "S"}}
        answer = parsed(server, inputs=[["a", "c"], ["a", "b"]], **asked)
        fine, wrong = answer["documents"]
        assert fine["status"] == "ok"
        assert "contradict" in wrong["status"] or "leaves no label" in wrong["status"]
        message = refused(server.post("/v1/parse", json={"words": ["a", "b"], **asked}), 422)
        assert message in wrong["status"]

    @pytest.mark.parametrize("example", EXAMPLES)
    def test_the_examples_of_the_schema_are_answered(
        self, server: TestClient, example: dict[str, Any]
    ) -> None:
        example = {**example, "text": "a b"} if "text" in example else example
        assert parsed(server, **example)["documents"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("", "Invalid JSON"),
            ("{", "Invalid JSON"),
            ("[]", "Input should be an object"),
            ("null", "Input should be an object"),
            ("3", "Input should be an object"),
            ("{}", "exactly one of text, words and inputs was expected, not none of them"),
            ('{"text": null}', "not none of them"),
            ('{"text": "a", "words": ["a"]}', "not text and words"),
            ('{"text": 3}', "text: Input should be a valid string"),
            ('{"words": "a b"}', "words: Input should be a valid array"),
            ('{"words": ["a", null]}', "words.1: Input should be a valid string"),
            ('{"inputs": ["a", [3]]}', "inputs.1: a text or a list of words was expected"),
            ('{"text": "a", "beem": 3}', "beem: Extra inputs are not permitted"),
            ('{"text": "a", "tasks": []}', "tasks: "),
            ('{"text": "a", "tasks": ["trees"]}', "tasks.0: Input should be 'tree'"),
            ('{"text": "a", "beams": 0}', "beams: a whole number from 1 to 50, not 0"),
            ('{"text": "a", "beams": 51}', "beams: a whole number from 1 to 50, not 51"),
            ('{"text": "a", "beams": true}', "beams: a whole number from 1 to 50, not True"),
            ('{"text": "a", "beams": "2"}', "beams: a whole number from 1 to 50, not '2'"),
            ('{"text": "a", "beams": 2.5}', "beams: a whole number from 1 to 50, not 2.5"),
            ('{"text": "a", "n_best": 21}', "n_best: a whole number from 1 to 20, not 21"),
            ('{"text": "a", "n_best": 1e999}', "n_best: "),
            ('{"text": "a", "draw": 1}', "draw: Input should be a valid boolean"),
            ('{"text": "a", "must": [[0]]}', "must.0: a span is [start, end] or"),
            ('{"text": "a", "must": [[0, 1, 2]]}', "must.0.2: Input should be a valid string"),
            ('{"text": "a", "must": [[0, 1.5]]}', "must.0.1: Input should be a valid integer"),
            ('{"text": "a", "forbid": [[-1, 1]]}', "forbid.0.0: "),
            ('{"text": "a", "must": {"0": 1}}', "must: "),
            ('{"text": "a", "min_probability": NaN}', "min_probability: "),
            ('{"text": "a", "min_probability": Infinity}', "min_probability: "),
            ('{"text": "a", "min_probability": 1.5}', "min_probability: "),
            ('{"text": "a", "gazetteer": {"a": 3}}', "gazetteer.a: "),
            ('{"text": "a", "steps": true, "beams": 2}', "steps are those of greedy search"),
            ('{"text": "a", "steps": true, "n_best": 2}', "steps are those of greedy search"),
            (r'{"text": "\ud800"}', "half of a character"),
            (r'{"words": ["a\udfff"]}', "half of a character"),
            ("[" * 100_000, "recursion limit"),
            ('{"text": ' * 5_000, "recursion limit"),
            ('{"text": "a", "beams": ' + "9" * 5_000 + "}", ""),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_what_is_wrong_with_a_request_is_told(
        self, server: TestClient, body: str, message: str
    ) -> None:
        response = server.post("/v1/parse", content=body, headers=JSON)
        assert message in refused(response, 422)

    @pytest.mark.parametrize("body", [b"\xff\xfe", b'{"text": "\xff"}', b'{"text": "a"', b"\x00"])
    def test_bytes_that_are_no_text_are_refused(self, server: TestClient, body: bytes) -> None:
        assert "JSON" in refused(server.post("/v1/parse", content=body, headers=JSON), 422)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"must": [[0, 9]]}, "must (0, 9) is not a span of a sentence of 4 words"),
            ({"must": [[0, 2], [1, 3]]}, "must (0, 2) and must (1, 3) cross"),
            ({"must": [[0, 2]], "forbid": [[0, 2]]}, "contradict each other"),
            ({"must": [[0, 2, "NX"]]}, "the model has no label 'NX'"),
            ({"labels": ["NX"]}, "the model has no label 'NX'"),
            ({"labels": []}, "labels is empty"),
            ({"root": "NX"}, "the model has no label 'NX'"),
            ({"gazetteer": {"a": "NX"}}, "the model has no label 'NX'"),
            ({"gazetteer": {" ": "S"}}, "has no words"),
            ({"tasks": ["tree"], "consistent": True}, "needs tree and entities"),
            ({"tasks": ["tags"], "root": "S"}, "constraints need a head"),
        ],
    )
    def test_what_cannot_be_obeyed_is_told(
        self, server: TestClient, asked: dict[str, Any], message: str
    ) -> None:
        response = server.post("/v1/parse", json={"words": list("abca"), **asked})
        assert message in refused(response, 422)

    def test_placed_constraints_are_for_one_sentence(self, server: TestClient) -> None:
        asked = {"text": "It slept. It ate.", "must": [[0, 1]]}
        assert "there are 2" in refused(server.post("/v1/parse", json=asked), 422)
        asked = {"text": " ", "must": [[0, 1]]}
        assert "there is none" in refused(server.post("/v1/parse", json=asked), 422)

    def test_many_errors_are_told_in_few_lines(self, server: TestClient) -> None:
        asked = {"words": [3] * 1_000, "x" * 10_000: 1}
        message = refused(server.post("/v1/parse", json=asked), 422)
        assert "and 993 more" in message
        assert len(message) < 2_500

    def test_a_message_that_quotes_much_is_cut(self, server: TestClient) -> None:
        asked = {"text": "a", "gazetteer": {"a " * 499: "S", "a" + " a" * 498: "NP"}}
        message = refused(server.post("/v1/parse", json=asked), 422)
        assert len(message) == 2_001
        assert message.endswith("…")

    def test_what_is_not_said_to_be_json_is_refused(self, server: TestClient) -> None:
        body = b'{"text": "a"}'
        for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"):
            response = server.post("/v1/parse", content=body, headers={"Content-Type": kind})
            assert "application/json" in refused(response, 415)
        refused(server.post("/v1/parse", content=body), 415)
        kind = "Application/JSON; charset=utf-8"
        response = server.post("/v1/parse", content=body, headers={"Content-Type": kind})
        assert response.status_code == 200

    def test_limits_are_kept(self) -> None:
        limits = Settings(
            max_body=2_000, max_words=20, max_inputs=3, max_close_words=5, max_beam_words=40
        )
        with client(limits) as server:
            for asked, message in (
                ({"words": ["a"] * 21}, "at most 20 words, not 21"),
                ({"inputs": ["a " * 15, "a " * 6]}, "at most 20 words, not 21"),
                ({"inputs": ["a"] * 4}, "inputs: at most 3, not 4"),
                ({"words": ["a" * 100] * 4}, "not 24; those of more than 20 characters count for"),
                ({"words": ["a"] * 6, "steps": True}, "steps: a request that asks for them"),
                ({"words": ["a"] * 6, "must": [[0, 2]]}, "must and forbid: a request"),
                ({"words": ["a"] * 6, "n_best": 2}, "at most 5 words, not 6"),
                ({"words": ["a"] * 9, "beams": 5}, "5 are for at most 8 words a request, not 9"),
            ):
                assert message in refused(server.post("/v1/parse", json=asked), 422)
            for asked in (
                {"words": ["a"] * 20},
                {"words": ["a"] * 8, "beams": 5},
                {"words": ["a"] * 4, "n_best": 2},
            ):
                parsed(server, **asked)
            response = server.post("/v1/parse", json={"text": "a" * 2_000})
            assert "at most 2,000 bytes" in refused(response, 413)

    def test_unknown_routes_and_methods_are_refused_alike(self, server: TestClient) -> None:
        message = refused(server.get("/v1/nothing"), 404)
        assert message == "there is nothing at /v1/nothing; /docs tells what there is"
        refused(server.get("/v1/parse/"), 404)
        response = server.get("/v1/parse")
        assert refused(response, 405) == "/v1/parse takes POST, not GET"
        assert response.headers["allow"] == "POST"
        message = refused(server.post("/static/style.css"), 405)
        assert message == "/static/style.css takes GET, HEAD, not POST"

    def test_a_bug_of_ours_is_no_secret_and_tells_none(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fall(*_: object) -> None:
            raise RuntimeError("a secret of the machine")

        monkeypatch.setattr(module, "job_of", fall)
        server = TestClient(module.make_app(PARSER), raise_server_exceptions=False)
        response = server.post("/v1/parse", json={"text": "a"})
        assert "secret" not in refused(response, 500)
        assert counts(server)["fencepost_requests_total", "/v1/parse", "500"] == 1

    anything = st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=8)
        | st.sampled_from(["S", "NP", "tree", "a b c. b a."]),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=6,
    )

    @given(body=st.dictionaries(st.text(max_size=6), anything, max_size=4) | anything)
    @settings(max_examples=50)
    def test_no_json_breaks_the_server(self, body: Any) -> None:
        response = FUZZED.post("/v1/parse", content=json.dumps(body), headers=JSON)
        assert response.status_code in (200, 422)

    @given(
        asked=st.fixed_dictionaries(
            {},
            optional={
                "text": st.text(max_size=12) | st.none(),
                "words": st.lists(st.text("ab (<\t\0é", max_size=3), max_size=5) | st.none(),
                "inputs": st.lists(st.text(max_size=5), max_size=3),
                "tasks": st.lists(st.sampled_from(["tree", "entities", "tags", "x"]), max_size=3),
                "beams": st.integers(-1, 4),
                "n_best": st.integers(0, 3),
                "must": st.lists(
                    st.tuples(st.integers(-1, 4), st.integers(0, 5), st.sampled_from(["S", None]))
                ),
                "forbid": st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=3),
                "labels": st.lists(st.sampled_from(["S", "NP", "VP", "", "x"]), max_size=3),
                "root": st.sampled_from(["S", "NP", None, "x"]),
                "consistent": st.booleans(),
                "gazetteer": st.dictionaries(st.text(max_size=3), st.just("S"), max_size=2),
                "min_probability": st.floats(-1, 2),
                "probabilities": st.booleans(),
                "draw": st.booleans(),
                "steps": st.booleans(),
            },
        )
    )
    @settings(max_examples=60)
    def test_no_options_break_the_server(self, asked: dict[str, Any]) -> None:
        response = FUZZED.post("/v1/parse", content=json.dumps(asked), headers=JSON)
        assert response.status_code in (200, 422), response.text
        if response.status_code == 200:
            for document in response.json()["documents"]:
                Document.from_dict(document)


FUZZED = TestClient(module.make_app(PARSER))  # for tests that Hypothesis repeats


class TestOtherRoutes:
    def test_health_tells_of_the_model(self, server: TestClient) -> None:
        expected = {"status": "ok", "model": "en-small", "waiting": 0}
        assert server.get("/health").json() == expected
        response = server.head("/health")
        assert (response.status_code, response.content) == (200, b"")
        assert list(server.get("/openapi.json").json()["paths"]["/health"]) == ["get"]

    def test_models_tell_labels_and_limits(self, server: TestClient) -> None:
        answer = server.get("/v1/models").json()
        assert answer["models"] == [
            {
                "name": "en-small",
                "tasks": ["tree", "entities", "tags"],
                "labels": {"tree": ["NP", "S", "VP"], "entities": ["NP", "S", "VP"]},
                "max_words": 20_000,
            }
        ]
        limits = answer["limits"]
        assert (limits["body"], limits["words"], limits["wait"], limits["n_best"]) == (
            2**20,
            20_000,
            10,
            20,
        )

    def test_metrics_count_what_was_done(self) -> None:
        with client() as server:
            parsed(server, inputs=["It slept. It ate.", ["a", "b"]])
            parsed(server, words=["a"])
            server.post("/v1/parse", json={})
            server.get("/somewhere/else")
            server.get("/health")
            found = counts(server)
        assert found["fencepost_requests_total", "/v1/parse", "200"] == 2
        assert found["fencepost_requests_total", "/v1/parse", "422"] == 1
        assert found["fencepost_requests_total", "other", "404"] == 1
        assert found["fencepost_refused_total", "invalid"] == 1
        assert found[("fencepost_words_total",)] == 9
        assert found[("fencepost_sentences_total",)] == 4
        assert found[("fencepost_batch_requests_count",)] == 2
        assert found[("fencepost_batch_words_sum",)] == 9
        assert found[("fencepost_waiting",)] == 0
        assert found["fencepost_request_seconds_count", "/v1/parse"] == 3

    def test_paths_do_not_become_labels(self) -> None:
        with client() as server:
            for number in range(5):
                server.get(f"/static/{number}")
                server.get(f"/{number}")
            routes = {key[1] for key in counts(server) if key[0] == "fencepost_requests_total"}
        assert routes == {"/static", "other"}

    def test_the_page_and_its_files_are_kept_but_asked_for_anew(self, server: TestClient) -> None:
        for path in (
            "/",
            "/static/style.css",
            "/static/drawing.css",
            "/docs",
            "/swagger/swagger-ui.css",
        ):
            response = server.get(path)
            assert response.status_code == 200, path
            assert response.headers["cache-control"] == "no-cache"
            same = {"If-None-Match": response.headers["etag"]}
            again = server.get(path, headers=same)
            assert (again.status_code, again.content) == (304, b"")
            assert server.head(path).status_code == 200
        assert server.get("/").headers["content-type"].startswith("text/html")

    def test_files_outside_of_the_page_are_not_given_out(self, server: TestClient) -> None:
        for path in (
            "/static/../app.py",
            "/static/%2e%2e/app.py",
            "/static/",
            "/static//etc/hosts",
        ):
            assert server.get(path).status_code in (404, 405), path

    def test_without_a_page_there_is_none(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(module, "STATIC", tmp_path / "static")
        server = client()
        refused(server.get("/"), 404)
        refused(server.get("/static/style.css"), 404)

    def test_every_answer_forbids_what_comes_from_elsewhere(self, server: TestClient) -> None:
        for path in ("/", "/docs", "/health", "/nothing", "/v1/parse"):
            headers = server.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in headers
        assert server.get("/health").headers["cache-control"] == "no-store"

    def test_a_name_of_a_model_is_told(self) -> None:
        server = TestClient(module.make_app(PARSER, model="mine"))
        assert server.get("/health").json()["model"] == "mine"
        assert parsed(server, text="a")["model"] == "mine"

    @pytest.mark.parametrize("slow", ["job_of", "answer"])
    def test_health_answers_while_much_is_read_or_written(
        self, slow: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun, let_go = threading.Event(), threading.Event()
        known = getattr(module, slow)

        def slowly(*given: Any, **options: Any) -> Any:
            begun.set()
            assert let_go.wait(20)
            return known(*given, **options)

        monkeypatch.setattr(module, slow, slowly)
        with client() as server, ThreadPoolExecutor(1) as pool:
            answer = pool.submit(parsed, server, text="a b")
            assert begun.wait(20)
            assert server.get("/health").json()["status"] == "ok"
            let_go.set()
            assert answer.result()

    def test_health_answers_while_a_long_text_is_parsed(self) -> None:
        parser = Watched()
        parser.let_go.clear()
        with client(parser=parser) as server:
            try:
                with ThreadPoolExecutor(2) as pool:
                    first = pool.submit(parsed, server, text="a b")
                    assert parser.begun.acquire(timeout=20)
                    second = pool.submit(parsed, server, text="b a", n_best=2)
                    while server.get("/health").json()["waiting"] != 1:
                        pass
                    assert not first.done()
                    parser.let_go.set()
                    assert first.result()
                    assert second.result()
            finally:
                parser.let_go.set()


def test_documents_of_a_server_are_those_of_the_library() -> None:
    (plain,) = parsed(client(), text=TEXT, draw=True, n_best=2)["documents"]
    document = fencepost.Document.from_dict(plain)
    assert document.text == TEXT
    assert all(parse.tree is not None for parse in document.sentences)
