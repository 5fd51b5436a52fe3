// The page: a text goes to the provider, and its sentences come back as cards.

import { BRACKETS, brackets, LINK, linkTo, PYTHON, python } from "./copying.js";
import { count, inRow, make } from "./elements.js";
import { Finding } from "./finding.js";
import { isGivenUp } from "./provider.js";
import { sentenceCard, textsOf } from "./sentence.js";
import { wholeText } from "./whole.js";

const SHARED = 2000; // characters at most of a text that is kept in the address

const byId = (name) => document.getElementById(name);

/**
 * Start the page.
 *
 * @param {import("./provider.js").Provider} provider
 */
export function start(provider) {
  const page = new Page(provider);
  page.listen();
  page.describe().catch(() => {}); // what is wrong is told with the first text
  page.first();
}

class Page {
  constructor(provider) {
    this.provider = provider;
    this.undrawn = new Map(); // cards by element
    this.cards = [];
    this.asking = null;
    this.described = null; // what the provider tells of itself
    this.finding = new Finding();
    byId("sentences").before(this.finding.element);
    this.near = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) this.#draw(target);
      },
      { rootMargin: "800px" },
    );
  }

  /** What answers, asked for once. */
  describe() {
    this.described ??= this.provider.describe().then((model) => {
      const language = model.name.startsWith("en-") ? " It is for English." : "";
      const tasks = model.tasks.map((task) => (task === "tree" ? "trees" : task));
      byId("model").textContent =
        `The model ${model.name} answers here. It finds ${inRow(tasks)}.${language}`;
      return model;
    });
    this.described.catch(() => {
      this.described = null; // the next text asks again, perhaps with a token
    });
    return this.described;
  }

  /**
   * Parse the text in the field, instead of whatever is parsed now.
   *
   * @param isOwn whether the reader asked for it.
   */
  async parse({ isOwn = true } = {}) {
    this.asking?.abort();
    const own = (this.asking = new AbortController());
    const text = byId("text").value;
    if (!text.trim()) {
      this.#wait(false);
      return tell("Write a text first.");
    }
    tell("");
    this.#wait(true);
    const onProgress = (progress) => {
      if (own === this.asking) tellProgress(progress);
    };
    try {
      const model = await this.describe();
      const document = await this.provider.parseText(text, { signal: own.signal, onProgress });
      if (own !== this.asking) return undefined;
      this.#show(document, model);
      byId("welcome").hidden = isOwn;
      if (isOwn) share(text);
    } catch (error) {
      if (own === this.asking && !isGivenUp(error)) this.#refuse(error, isOwn);
    } finally {
      if (own === this.asking) this.#wait(false);
    }
    return undefined;
  }

  /** Parse the text that belongs to the address, if there is one. */
  openShared() {
    const text = shared();
    if (!text) return this.first();
    byId("text").value = text;
    return this.parse();
  }

  /** The first parse: of the text that belongs to the address, or of the one in the field. */
  first() {
    const { example } = this.provider;
    if (shared()) this.openShared();
    else if (example) {
      byId("text").value = example.text;
      this.describe().then((model) => this.#show(example, model), () => {});
    } else {
      byId("text").value = byId("text").defaultValue;
      this.parse({ isOwn: false });
    }
  }

  listen() {
    byId("privacy").textContent = this.provider.privacy;
    byId("ask-back").hidden = !this.provider.can.readings;
    byId("asking").addEventListener("submit", (event) => {
      event.preventDefault();
      this.parse();
    });
    byId("cancel").addEventListener("click", () => this.#cancel());
    byId("text").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.parse();
    });
    for (const example of document.querySelectorAll("[data-example]")) {
      example.addEventListener("click", () => {
        byId("text").value = example.dataset.example;
        this.parse();
      });
    }
    byId("token-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.provider.useToken(byId("token").value);
      byId("token-form").hidden = true;
      this.parse();
    });
    byId("skip").addEventListener("click", (event) => {
      event.preventDefault(); // the address keeps its text
      byId("text").focus();
    });
    addEventListener("popstate", () => this.openShared());
    addEventListener("beforeprint", () => {
      for (const card of this.cards) card.stop();
      [...this.undrawn.keys()].forEach((element) => this.#draw(element));
    });
  }

  /** Show the sentences of a document; each is drawn when it comes near. */
  #show(document, model) {
    this.near.disconnect();
    this.undrawn.clear();
    const texts = textsOf(document);
    const { provider } = this;
    this.cards = document.sentences.map((sentence, index) =>
      sentenceCard(sentence, { number: index + 1, text: texts[index].text, provider, model }),
    );
    const cards = this.cards.map((card) => card.element);
    const whole = cards.length > 1 ? [this.#whole(document, texts, model)] : [];
    byId("sentences").replaceChildren(...whole, ...cards);
    for (const card of this.cards) {
      this.undrawn.set(card.element, card);
      this.near.observe(card.element);
    }
    this.finding.take(this.cards);
    const { length } = this.cards;
    tell(length ? `${count(length, "sentence")}.` : "There are no words in this text.");
  }

  /** The reading view of a document. */
  #whole(document, texts, model) {
    const { text, sentences } = document;
    const layers = ["tree", "entities"].filter((layer) => sentences[0][layer]);
    const allBrackets = () => {
      const lines = sentences.map(brackets);
      return lines.includes(null) ? null : lines.join("\n");
    };
    const none = { must: [], forbid: [] };
    const copies = {
      ...(layers.includes("tree") ? { [BRACKETS]: allBrackets } : {}),
      [PYTHON]: () =>
        python(
          model.name,
          text,
          Object.fromEntries(layers.map((layer) => [layer, none])),
          this.provider.search,
        ),
      [LINK]: () => linkTo(text),
    };
    const between = texts.map(({ before }) => before);
    const onSentence = (index) => {
      const { element } = this.cards[index];
      this.#draw(element);
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "start" });
    };
    return wholeText(document, { between, onSentence, copies });
  }

  #draw(element) {
    this.near.unobserve(element);
    this.undrawn.get(element)?.mount();
    this.undrawn.delete(element);
  }

  #cancel() {
    this.asking?.abort();
    this.asking = null;
    this.#wait(false);
    tell("Cancelled.");
    byId("text").focus();
  }

  #refuse({ message, status }, isOwn) {
    byId("message").className = "message refusal";
    byId("message").textContent = message;
    if (status !== 401 || !this.provider.can.token) return;
    byId("token-form").hidden = false;
    byId("token").value = "";
    if (isOwn) byId("token").focus();
  }

  #wait(isWaiting) {
    byId("parse").textContent = isWaiting ? "Parsing …" : "Parse";
    byId("cancel").hidden = !isWaiting;
    byId("sentences").ariaBusy = String(isWaiting);
  }
}

function tell(message) {
  byId("message").className = "message";
  byId("message").textContent = message;
}

/** Tell what takes time, with a bar. */
function tellProgress({ what, share }) {
  const bar = make("progress", { max: 1, "aria-label": what });
  if (share !== null) bar.value = share;
  byId("message").className = "message working";
  byId("message").replaceChildren(`${what} …`, bar);
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
