// Notices stand in the line of the header, one at a time, and move nothing. A notice covers the less urgent ones
// and never removes them: an urgent one goes only when its cause is gone or by its own button, any other with Esc and
// with the next answer.
const container = document.getElementById("notice");
const URGENCY = ["idle", "slow", "offline", "refused", "error", "expired"]; // all other kinds share the place below them
const places = [null, ...URGENCY.map(() => null)]; // by urgency: { kind, nodes }
let drawn = null;

const rank = (kind) => URGENCY.indexOf(kind) + 1;

function draw() {
  const top = places.findLast(Boolean) ?? null;
  if (top === drawn) return;
  drawn = top;
  container.replaceChildren(...(top?.nodes ?? []));
}

// Remove the notice of this kind; without a kind, the one that is not urgent.
export function clear(kind = places[0]?.kind) {
  if (places[rank(kind)]?.kind !== kind) return;
  places[rank(kind)] = null;
  draw();
}

export function put(node, kind) {
  places[rank(kind)] = { kind, nodes: node instanceof DocumentFragment ? [...node.childNodes] : [node] };
  draw();
}

// Show the notice of this kind; `slots` holds the texts for its named slots.
export function tell(kind, slots = {}) {
  if (places[rank(kind)]?.kind === kind && !Object.keys(slots).length) return;
  const source = document.querySelector(`template[data-notice="${kind}"]`);
  const node = document.importNode(source.content, true);
  for (const [name, text] of Object.entries(slots)) node.querySelector(`[data-slot="${name}"]`).textContent = text;
  put(node, kind);
}

// Show the error; its button calls `retry`.
export function askAgain(retry) {
  tell("error");
  container.querySelector("[data-retry]").onclick = retry;
}

// Dismiss what Esc may dismiss: a notice with a button for it that is not urgent.
export function dismiss() {
  if (drawn && drawn === places[0] && container.querySelector("[data-dismiss]")) clear();
}

container?.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismiss]")) clear(drawn.kind);
});
const first = container?.firstElementChild;
if (first) places[0] = drawn = { kind: first.dataset.notice ?? "", nodes: [...container.childNodes] };
