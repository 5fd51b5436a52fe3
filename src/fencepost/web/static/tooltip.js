// The one tooltip of the page: what a span is. Screen readers get the same from its name.

import { make, percent, quoted } from "./elements.js";

const GAP = 10;

/** Show what a span is, beside its label. */
export function showTooltip(target, span, words) {
  const tooltip = document.getElementById("tooltip");
  const parts = [make("strong", { textContent: span.label })];
  if (span.probability !== null) {
    parts.push(make("span", { className: "chance", textContent: percent(span.probability) }));
  }
  parts.push(
    make("span", {
      className: "words",
      dir: "auto",
      textContent: quoted(words, span.start, span.end),
    }),
  );
  parts.push(make("span", { className: "place", textContent: `(${span.start}, ${span.end})` }));
  tooltip.replaceChildren(...parts);
  tooltip.hidden = false;
  place(tooltip, target.getBoundingClientRect());
}

/** Take the tooltip away. */
export function hideTooltip() {
  document.getElementById("tooltip").hidden = true;
}

/** Above the target if there is room, else below, and always within the window. */
function place(tooltip, target) {
  const { width, height } = tooltip.getBoundingClientRect();
  const middle = target.left + target.width / 2 - width / 2;
  const above = target.top - height - GAP;
  const room = document.documentElement.clientWidth - width - GAP;
  tooltip.style.left = `${Math.max(GAP, Math.min(middle, room))}px`;
  tooltip.style.top = `${above >= 0 ? above : target.bottom + GAP}px`;
}
