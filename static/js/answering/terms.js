// Highlighted terms: how often each occurs in the pages on the screen, and what happens after one was added.
import { foldTerms } from "../screen/header.js";
import { toAnswering } from "../keys/keys.js";
import { all, contentOf } from "../screen/panes.js";

const plain = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();
const counted = new WeakMap(); // page or list -> term -> how often; a page with other terms is another document

function countsIn(content) {
  if (!content) return new Map();
  if (!counted.has(content)) {
    const found = new Map();
    for (const { textContent } of content.querySelectorAll("mark[data-mark]")) found.set(textContent, (found.get(textContent) ?? 0) + 1);
    const terms = new Map();
    for (const [text, count] of found) terms.set(plain(text), (terms.get(plain(text)) ?? 0) + count);
    counted.set(content, terms);
  }
  return counted.get(content);
}

// A long page has thousands of marks: count them while nothing else is to do, before the page is shown.
export const countEarly = (frame) => requestIdleCallback(() => countsIn(frame.contentDocument));

// A Chinese term counts its parts, too.
const isPart = (text, term) => text === term || (/^\p{Script=Han}{2,}$/u.test(text) && /^\p{Script=Han}{3,}$/u.test(term) && term.includes(text));
const countOf = (found, term) => [...found].reduce((sum, [text, count]) => sum + (isPart(text, term) ? count : 0), 0);

export function countTerms() {
  const counts = all().map((pane) => countsIn(contentOf(pane)));
  for (const chip of document.querySelectorAll("#terms .chip")) {
    const term = chip.querySelector("span");
    const each = counts.map((found) => countOf(found, plain(term.textContent)));
    chip.toggleAttribute("data-absent", !each.some(Boolean));
    const box = chip.querySelector(".chip__count");
    if (!box) continue;
    box.textContent = each.join(" · ");
    box.title = each.length > 1 ? `${each[0]} in the left, ${each[1]} in the right` : `${each[0]} in the page`;
  }
  foldTerms();
}

export function wireTerms(changed) {
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id !== "terms") return;
    const added = document.activeElement?.id === "chip-add" && !event.target.querySelector(".error");
    if (added) toAnswering(); // the next key answers; the key for highlighting adds another term
    changed();
  });
}
