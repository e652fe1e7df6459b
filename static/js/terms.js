// Highlighted terms: how often each occurs in the pages on the screen, and what happens after one was added.
import { toAnswering } from "./keys.js";
import { all, contentOf } from "./panes.js";

const plain = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();
const marksIn = (pane) => [...(contentOf(pane)?.querySelectorAll("mark[data-mark]") ?? [])];

export function countTerms() {
  const counts = all().map((pane) => {
    const found = new Map();
    for (const mark of marksIn(pane)) found.set(plain(mark.textContent), (found.get(plain(mark.textContent)) ?? 0) + 1);
    return found;
  });
  for (const chip of document.querySelectorAll("#terms .chip")) {
    const term = chip.querySelector("span");
    const each = counts.map((found) => found.get(plain(term.textContent)) ?? 0);
    const box = chip.querySelector(".chip__count");
    if (!box) continue;
    box.textContent = each.join(" · ");
    box.title = each.length > 1 ? `${each[0]} in the left, ${each[1]} in the right` : `${each[0]} in the page`;
  }
}

export function wireTerms(changed) {
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "terms") return;
    const added = document.activeElement?.id === "chip-add" && !event.target.querySelector(".error");
    if (added) toAnswering(); // the next key answers; the key for highlighting adds another term
    changed();
  });
}
