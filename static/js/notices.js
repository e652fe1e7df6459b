// Notices overlay the bottom of the pages, one at a time, without moving the layout.
const container = document.getElementById("notice");
let current = null;

container?.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismiss]")) clear();
});
current = container?.querySelector("[data-notice]")?.dataset.notice ?? null;

const URGENT = new Set(["offline", "slow", "error", "refused"]);
let beneath = null; // what an interruption covers

// Show a notice for a while, unless something more urgent is shown; `resume` brings back what it covers.
export function interrupt(kind) {
  if (URGENT.has(current) || current === kind) return;
  beneath = { kind: current, nodes: [...container.childNodes] };
  tell(kind);
}

export function resume(kind) {
  if (current !== kind) return;
  current = beneath.kind;
  container.replaceChildren(...beneath.nodes);
}

export function clear(kind) {
  if (kind && kind !== current) return;
  current = null;
  container.replaceChildren();
}

export function put(node, kind) {
  current = kind;
  container.replaceChildren(node);
}

// Show the notice of this kind; `slots` holds the texts for its named slots.
export function tell(kind, slots = {}) {
  if (current === kind && !Object.keys(slots).length) return;
  const source = document.querySelector(`template[data-notice="${kind}"]`);
  const node = document.importNode(source.content, true);
  for (const [name, text] of Object.entries(slots)) node.querySelector(`[data-slot="${name}"]`).textContent = text;
  put(node, kind);
}

// Show the error; resolves when the person chooses to try again.
export function askAgain() {
  tell("error");
  return new Promise((resolve) => {
    container.querySelector("[data-retry]").addEventListener("click", () => { clear(); resolve(); }, { once: true });
  });
}
