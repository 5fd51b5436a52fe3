// The server as a provider. Addresses are relative, so the page also works below a path of a proxy.

import { isGivenUp, Refusal } from "./provider.js";

const TOKEN = "fencepost-token";

const NO_TOKEN = "This server wants a token.";
const WRONG_TOKEN = "This token is not right.";
const HEADLINES = {
  413: "This is more than the server takes at once.",
  503: "The server is busy.",
};

let ownToken = null; // where a browser keeps nothing

/** Keep the token until the tab is closed. */
function keepToken(token) {
  ownToken = token;
  try {
    sessionStorage.setItem(TOKEN, token);
  } catch {
    // It then holds until the page is left.
  }
}

function keptToken() {
  try {
    return ownToken ?? sessionStorage.getItem(TOKEN);
  } catch {
    return ownToken;
  }
}

function forgetToken() {
  ownToken = null;
  try {
    sessionStorage.removeItem(TOKEN);
  } catch {
    // Then it was not kept there either.
  }
}

let described = null; // what the server has told of itself, or is telling

/** @type {import("./provider.js").Provider} */
export const server = {
  can: { readings: true, constraints: true, steps: true, names: true, token: true },
  privacy: "Texts go to this server and nowhere else.",

  async describe() {
    const { models, limits } = await about();
    const [{ name, tasks, labels }] = models;
    return { name, tasks, labels, closeWords: limits.close_words };
  },

  async parseText(text, { signal } = {}) {
    const { limits } = await about();
    checkSize(text, limits.body);
    return parse({ text }, signal);
  },

  async parseWords(words, query, { signal } = {}) {
    return only(await parse({ words, ...asked(query) }, signal));
  },

  async names(words, query, { signal } = {}) {
    // The tree says which word is the head; but constraints may be about one layer alone.
    const isFree = !query.must.length && !query.forbid.length;
    return only(await parse({ words, names: true, ...(isFree ? {} : asked(query)) }, signal));
  },

  async readings(words, count, query, { signal } = {}) {
    const sentence = only(
      await parse({ words, n_best: count, ...asked(query) }, signal),
    );
    return sentence.readings ?? [sentence];
  },

  async steps(words, query, { signal } = {}) {
    return only(await parse({ words, steps: true, ...asked(query) }, signal));
  },

  useToken: keepToken,
};

/** What the server says of its model and limits, asked for once. */
function about() {
  described ??= answer("v1/models", {});
  described.catch(() => {
    described = null; // the next call asks again, perhaps with a token
  });
  return described;
}

/** A query in the server's words. */
function asked({ layer, must, forbid }) {
  return { tasks: [layer], must, forbid };
}

function only(document) {
  return document.sentences[0];
}

/** The document of a request for one. */
async function parse(request, signal) {
  const { documents } = await answer("v1/parse", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  const [document] = documents;
  if (document.status !== "ok")
    throw new Refusal(`This could not be parsed: ${document.status}`);
  return document;
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

async function answer(address, request) {
  const headers = new Headers(request.headers);
  const token = keptToken();
  if (token) {
    try {
      headers.set("Authorization", `Bearer ${token}`);
    } catch {
      forgetToken(); // no header can hold it
      throw new Refusal(WRONG_TOKEN, { status: 401 });
    }
  }
  let response;
  try {
    response = await fetch(address, { ...request, headers });
  } catch (error) {
    if (isGivenUp(error)) throw error;
    throw new Refusal(
      "The server does not answer. It may have been stopped, or the text is more than it takes.",
    );
  }
  const said = await response.json().catch((error) => {
    if (isGivenUp(error)) throw error;
    return null;
  });
  if (response.ok && said !== null) return said;
  const { status } = response;
  if (status === 401) {
    forgetToken();
    throw new Refusal(token ? WRONG_TOKEN : NO_TOKEN, { status });
  }
  throw new Refusal(told(response, said), { status, said: said?.error?.message });
}

/** A refusal in words: what kind it is, what the server says, and when to try again. */
function told(response, said) {
  const wait = Number(response.headers.get("Retry-After"));
  const parts = [
    HEADLINES[response.status],
    said?.error?.message ??
      (HEADLINES[response.status] ? null : `The server answers with status ${response.status}.`),
    wait > 0 ? `Try again in ${wait} second${wait === 1 ? "" : "s"}.` : null,
  ];
  return parts.filter(Boolean).map(asSentence).join(" ");
}

function asSentence(text) {
  const sentence = text[0].toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
