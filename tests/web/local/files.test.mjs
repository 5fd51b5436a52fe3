// Files that are not as they were written are refused, and good ones are kept.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, test } from "node:test";
import { Damaged, Files, sha256 } from "../../../src/fencepost/web/static/local/files.js";

const BASE = "https://example.org/page/";
const bytes = new TextEncoder().encode("some weights");
const listed = { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
const own = { fetch: globalThis.fetch, caches: globalThis.caches };
let kept;

afterEach(() => Object.assign(globalThis, own));

/** A host that answers with some bytes. */
function host(body) {
  kept = new Map();
  const manifest = JSON.stringify({ version: 1, files: { weights: listed } });
  globalThis.fetch = async (address) =>
    body === null
      ? Promise.reject(new TypeError("no network"))
      : new Response(address.endsWith("manifest.json") ? manifest : body);
  globalThis.caches = {
    open: async () => ({
      match: async (address) => kept.get(address)?.clone(),
      put: async (address, response) => void kept.set(address, response),
      delete: async (address) => kept.delete(address),
    }),
  };
}

test("a file is counted, compared and kept", async () => {
  host(bytes);
  const files = await Files.at(BASE);
  let count = 0;
  assert.deepEqual(await files.bytes("weights", (more) => (count += more)), bytes);
  assert.equal(count, files.size(["weights"]));
  globalThis.fetch = () => assert.fail("it was kept");
  assert.deepEqual(await files.bytes("weights"), bytes);
});

for (const wrong of ["some Weights", "some", "some weights and more"]) {
  test(`“${wrong}” is refused`, async () => {
    host(wrong);
    const files = await Files.at(BASE);
    await assert.rejects(files.bytes("weights"), Damaged);
    assert.equal(kept.size, 0);
  });
}

test("what was damaged where it is kept is fetched anew", async () => {
  host(bytes);
  const files = await Files.at(BASE);
  kept.set(`${BASE}weights`, new Response("other"));
  assert.deepEqual(await files.bytes("weights"), bytes);
});

test("a browser that keeps nothing is no hindrance, and no network is told", async () => {
  host(bytes);
  globalThis.caches = { open: () => Promise.reject(new Error("not here")) };
  assert.deepEqual(await (await Files.at(BASE)).bytes("weights"), bytes);
  host(null);
  await assert.rejects(Files.at(BASE), /no network/);
});

test("the checksum is SHA-256", async () => {
  assert.equal(await sha256(bytes), listed.sha256);
});
