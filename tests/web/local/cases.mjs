// The cases that Python has written for a test.

import { readFileSync } from "node:fs";

export const cases = JSON.parse(readFileSync(process.env.FENCEPOST_CASES, "utf8"));
