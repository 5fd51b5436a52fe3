// Prints the documents of texts as JSON, for `tests/reliability/browser.py`.

import { cases } from "./cases.mjs";
import { opened } from "./opened.mjs";

const parser = await opened(cases.folder);
const documents = [];
for (const text of cases.texts) documents.push(await parser.parseText(text));
process.stdout.write(JSON.stringify(documents));
