// The files of the page: fetched once, compared with their checksums, and kept by the browser.

export const MANIFEST = "manifest.json";

/** Why a file is not used, in a sentence for people. */
export class Damaged extends Error {}

/** @typedef {{bytes: number, sha256: string}} Listed */

/** The SHA-256 of some bytes. @param {BufferSource} bytes */
export async function sha256(bytes) {
  if (!globalThis.crypto?.subtle)
    throw new Damaged(
      "This page cannot check its files here: open it with https, or as http://localhost.",
    );
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The files below an address, by a list of their sizes and checksums. */
export class Files {
  /**
   * Read the list.
   *
   * @param {string} base the address of the folder, with a slash at its end
   */
  static async at(base) {
    const bytes = await (await answer(base + MANIFEST)).arrayBuffer();
    const { files } = JSON.parse(new TextDecoder().decode(bytes));
    return new Files(base, files, await keptFiles(base, await sha256(bytes)));
  }

  /**
   * @param {string} base
   * @param {Record<string, Listed>} listed
   * @param {Cache | null} kept
   */
  constructor(base, listed, kept) {
    this.base = base;
    this.listed = listed;
    this.kept = kept;
  }

  /** The bytes of some files together. @param {string[]} names */
  size(names) {
    return names.reduce((sum, name) => sum + this.listed[name].bytes, 0);
  }

  /**
   * A file, as it was written.
   *
   * @param {string} name
   * @param {(bytes: number) => void} [onBytes] is called with how many more have come.
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  async bytes(name, onBytes = () => {}) {
    const address = this.base + name;
    const kept = await this.kept?.match(address);
    if (kept) {
      const bytes = new Uint8Array(await kept.arrayBuffer());
      if ((await sha256(bytes)) === this.listed[name].sha256) {
        onBytes(bytes.length);
        return bytes;
      }
      await this.kept?.delete(address);
    }
    const bytes = await this.#fetched(name, onBytes);
    await this.kept?.put(address, new Response(bytes)).catch(() => {}); // there may be no room
    return bytes;
  }

  /** @param {string} name */
  async json(name) {
    return JSON.parse(new TextDecoder().decode(await this.bytes(name)));
  }

  /** @param {string} name @param {(bytes: number) => void} onBytes */
  async #fetched(name, onBytes) {
    const { bytes: size, sha256: checksum } = this.listed[name];
    const { body } = await answer(this.base + name);
    const bytes = new Uint8Array(size);
    let done = 0;
    const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (done + part.value.length > size) break; // longer than it should be
      bytes.set(part.value, done);
      done += part.value.length;
      onBytes(part.value.length);
    }
    if (done !== size || (await sha256(bytes)) !== checksum)
      throw new Damaged(`${name} did not come as it was written. Close this page in all tabs, then open it again.`);
    return bytes;
  }
}

/** @param {string} address */
async function answer(address) {
  let response;
  try {
    response = await fetch(address);
  } catch {
    throw new Damaged("The files of this page cannot be loaded: there is no network.");
  }
  if (!response.ok)
    throw new Damaged(`A file of this page is missing: ${address} (status ${response.status}).`);
  return response;
}

/**
 * What the browser keeps of this version of the page; null if it keeps nothing.
 *
 * @param {string} base
 * @param {string} version
 */
async function keptFiles(base, version) {
  try {
    return await caches.open(`fencepost ${base} ${version}`); // as in service-worker.js
  } catch {
    return null;
  }
}
