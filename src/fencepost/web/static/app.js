// The page: a text goes to the server, and its sentences come back as cards.

import { isGivenUp, keepToken, models, parse, Refusal } from "./api.js";
import { count, inRow } from "./elements.js";
import { sentenceCard, textsOf } from "./sentence.js";

const SHARED = 2000; // characters at most of a text that is kept in the address

const byId = (name) => document.getElementById(name);
const cards = new Map(); // by element, those that are not drawn yet
let shown = []; // all cards
const near = new IntersectionObserver(drawSeen, { rootMargin: "800px" });
let known = null; // what the server has told of itself, or is telling
let asking = null;

/** Ask for the text in the field, instead of whatever is asked now. */
async function parseText() {
  asking?.abort();
  const own = (asking = new AbortController());
  const text = byId("text").value;
  if (!text.trim()) {
    wait(false);
    return tell("Write a text first.");
  }
  tell("");
  wait(true);
  try {
    const server = await learn();
    checkSize(text, server.limits.body);
    const { documents } = await parse({ text, draw: true }, own);
    if (own !== asking) return undefined;
    show(documents[0], server);
    share(text);
  } catch (error) {
    if (own === asking && !isGivenUp(error)) refuse(error.message, error.status);
  } finally {
    if (own === asking) wait(false);
  }
  return undefined;
}

/** Show the sentences of a document; each is drawn when it comes near. */
function show(document, server) {
  const place = byId("sentences");
  near.disconnect();
  cards.clear();
  byId("welcome").hidden = true;
  const texts = textsOf(document);
  const made = document.sentences.map((sentence, index) =>
    sentenceCard(sentence, { number: index + 1, text: texts[index], ...server }),
  );
  shown = made;
  place.replaceChildren(...made.map((card) => card.element));
  for (const card of made) {
    cards.set(card.element, card);
    near.observe(card.element);
  }
  tell(made.length ? `${count(made.length, "sentence")}.` : "There are no words in this text.");
}

function drawSeen(entries) {
  for (const { isIntersecting, target } of entries) if (isIntersecting) drawCard(target);
}

function drawCard(element) {
  near.unobserve(element);
  cards.get(element)?.mount();
  cards.delete(element);
}

/** What the model can find and the server takes, asked for once. */
function learn() {
  known ??= models().then(({ models: [model], limits }) => {
    const language = model.name.startsWith("en-") ? " It is for English." : "";
    byId("model").textContent =
      `The model ${model.name} answers here. It finds ${inRow(model.tasks.map((task) => (task === "tree" ? "trees" : task)))}.${language}`;
    return { labels: model.labels, limits };
  });
  known.catch(() => {
    known = null; // the next text asks again, perhaps with a token
  });
  return known;
}

/** Refuse what the server would not read to its end: it could not say why. */
function checkSize(text, most) {
  const bytes = new TextEncoder().encode(JSON.stringify(text)).length;
  if (bytes <= most) return;
  const [has, takes] = [bytes, most].map((number) => number.toLocaleString("en"));
  throw new Refusal(`This text has ${has} bytes, and the server takes ${takes} at once.`, {
    status: 413,
  });
}

function tell(message) {
  byId("message").className = "message";
  byId("message").textContent = message;
}

function refuse(message, status = 0) {
  byId("message").className = "message refusal";
  byId("message").textContent = message;
  if (status !== 401) return;
  byId("token-form").hidden = false;
  byId("token").value = "";
  byId("token").focus();
}

function wait(isWaiting) {
  byId("parse").textContent = isWaiting ? "Parsing …" : "Parse";
  byId("sentences").ariaBusy = String(isWaiting);
}

/** Keep a short text in the address, so that it can be sent to others; "back" leads to the last. */
function share(text) {
  const address = text.length > SHARED ? location.pathname : `#text=${encodeURIComponent(text)}`;
  const before = shared();
  const isOther = before !== null && before !== text;
  history[isOther ? "pushState" : "replaceState"]({ text }, "", address);
}

/** The text that belongs to the address; null if there is none. */
function shared() {
  const hash = location.hash.slice(1).replaceAll("+", "%2B");
  return history.state?.text ?? new URLSearchParams(hash).get("text");
}

/** Parse the text that belongs to the address, if there is one. */
function openShared() {
  const text = shared();
  if (!text) return;
  byId("text").value = text;
  parseText();
}

byId("asking").addEventListener("submit", (event) => {
  event.preventDefault();
  parseText();
});
byId("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  parseText();
});
for (const example of document.querySelectorAll("[data-example]")) {
  example.addEventListener("click", () => {
    byId("text").value = example.dataset.example;
    parseText();
  });
}
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(byId("token").value);
  byId("token-form").hidden = true;
  parseText();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address keeps its text
  byId("text").focus();
});
addEventListener("popstate", openShared);
addEventListener("beforeprint", () => {
  for (const card of shown) card.stop();
  [...cards.keys()].forEach(drawCard);
});

learn().catch(() => {}); // what is wrong is told with the first text
openShared();
