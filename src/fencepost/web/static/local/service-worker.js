// fencepost-page: keeps the files of this version of the page, for use without a network.

const VERSION = "VERSION"; // the SHA-256 of manifest.json, as `fencepost export-web` has written it
const MANIFEST = "manifest.json";
const scope = self.registration.scope;
const OURS = `fencepost ${scope} `;
const LATER = /^(?:model|runtime)\/.*\.(?:onnx|safetensors|wasm)$/; // kept when they are first used
// Few hosts send these. Only a page that is isolated from others may have threads, and a worker has
// no policy but that of its own answer.
const HEADERS = {
  "Content-Security-Policy": "POLICY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(scope)) event.respondWith(answer(event.request));
});

/** Keep the page; nothing is kept if one of its files is not as it was written. */
async function keep() {
  const cache = await caches.open(OURS + VERSION);
  const manifest = await fetched(MANIFEST, VERSION);
  const { files } = await manifest.clone().json();
  await cache.put(scope + MANIFEST, manifest);
  const names = Object.keys(files).filter((name) => !LATER.test(name));
  await Promise.all(
    names.map(async (name) => cache.put(scope + name, await fetched(name, files[name].sha256))),
  );
}

/** A file from the network, if it has the right checksum. */
async function fetched(name, checksum) {
  const response = await fetch(scope + name, { cache: "no-cache" });
  const bytes = await response.clone().arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const found = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!response.ok || found !== checksum) throw new Error(`${name} is not as it was written`);
  return response;
}

/** Forget other versions of the page, and begin to answer. */
async function forgetOthers() {
  const names = await caches.keys();
  const others = names.filter((name) => name.startsWith(OURS) && name !== OURS + VERSION);
  await Promise.all(others.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** What is kept, or else what the network has. */
async function answer(request) {
  const address = request.url.replace(/[?#].*$/, "");
  const cache = await caches.open(OURS + VERSION);
  const name = address === scope ? `${scope}index.html` : address;
  const response = (await cache.match(name)) ?? (await fetch(request));
  if (response.status === 0 || response.redirected) return response;
  const headers = new Headers(response.headers);
  for (const [header, value] of Object.entries(HEADERS)) headers.set(header, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}
