// Asking the server. Addresses are relative, so the page also works below a path of a proxy.

const TOKEN = "fencepost-token";

const NO_TOKEN = "This server wants a token.";
const WRONG_TOKEN = "This token is not right.";
const HEADLINES = {
  413: "This is more than the server takes at once.",
  503: "The server is busy.",
};

/** What the server does not do, or cannot be asked. */
export class Refusal extends Error {
  constructor(message, { status = 0, said = "" } = {}) {
    super(message);
    this.status = status;
    this.said = said; // by the server, in its own words
  }
}

let ownToken = null; // where a browser keeps nothing

/** Keep the token until the tab is closed. */
export function keepToken(token) {
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

/** What the model can find and what the server takes. */
export function models() {
  return answer("v1/models", {});
}

/** The documents of an asking; see the server's own page for what can be asked. */
export async function parse(asking, { signal } = {}) {
  const body = JSON.stringify(asking);
  const found = await answer("v1/parse", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    signal,
  });
  for (const { status } of found.documents) {
    if (status !== "ok") throw new Refusal(`This could not be parsed: ${status}`);
  }
  return found;
}

/** The only sentence of an asking with words. */
export async function parseWords(words, options, { signal } = {}) {
  const { documents } = await parse({ words, ...options }, { signal });
  return documents[0].sentences[0];
}

/** Whether an asking was given up for a newer one. */
export function isGivenUp(error) {
  return error.name === "AbortError";
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
