// The page that needs no server: it parses in this browser, and is kept for use without a network.

import { start } from "../app.js";
import { browser } from "./provider.js";

const GREEDY = "It parses in your browser, by greedy search.";

/** @param {string} text */
function tell(text) {
  const place = document.getElementById("offline");
  if (place) place.textContent = text;
}

tell(GREEDY);
start(browser);

if ("serviceWorker" in navigator) {
  navigator.serviceWorker
    .register(new URL("../../service-worker.js", import.meta.url))
    .then(() => navigator.serviceWorker.ready)
    .then(() => tell(`${GREEDY} After the first parse, it works without a network, too.`))
    .catch(() => {}); // some browsers keep nothing: the page works all the same
}
