// Notices lie over the foot of the stage; one at a time, and nothing moves for them.
const place = document.getElementById("notice");
let current = null;

place?.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismiss]")) clear();
});
current = place?.querySelector("[data-notice]")?.dataset.notice ?? null;

export function clear(kind) {
  if (kind && kind !== current) return;
  current = null;
  place.replaceChildren();
}

export function put(node, kind) {
  current = kind;
  place.replaceChildren(node);
}

// Shows the notice of this kind; `slots` fills the places named in it.
export function tell(kind, slots = {}) {
  if (current === kind) return;
  const source = document.querySelector(`template[data-notice="${kind}"]`);
  const node = document.importNode(source.content, true);
  for (const [name, text] of Object.entries(slots)) node.querySelector(`[data-slot="${name}"]`).textContent = text;
  put(node, kind);
}

// Resolves when the person wants it tried again.
export function askAgain() {
  tell("error");
  return new Promise((resolve) => {
    place.querySelector("[data-retry]").addEventListener("click", () => { clear(); resolve(); }, { once: true });
  });
}
