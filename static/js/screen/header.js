// The header: whole at the first question of a query, one line from the second on, so that the pages have the room. The
// key for details, or the number beside the terms, brings it back until the next question; a person can pin it.
import { reading, remember } from "./preferences.js";

const look = document.body.classList;
const short = matchMedia("(max-height: 500px)");
const phone = matchMedia("(max-width: 700px)");
const query = document.querySelector(".ask h1");
const tools = document.getElementById("tools");
let answered = Number(document.getElementById("progress").getAttribute("aria-valuenow"));

const isFolded = () => look.contains("folded");

function turn(folded) {
  look.toggle("folded", folded);
  if (folded) query.tabIndex = 0; // focus shows the whole of a query that is cut
  else query.removeAttribute("tabindex");
  foldTerms();
}

// Fold or unfold the header for a question; the frames change their height with it, so this comes before they are shown.
export function fold(count) {
  answered = count;
  const folded = !reading.pinned && (count > 0 || short.matches);
  if (folded !== isFolded()) turn(folded);
}

const isOpen = () => query.matches(":hover, :focus-visible");

// One line has room for a row of terms with hits; a button with the number of the others shows them all.
export function foldTerms() {
  const chips = [...document.querySelectorAll("#terms .chip")];
  const more = document.querySelector("#terms .chips__more");
  for (const chip of chips) chip.toggleAttribute("data-folded", "absent" in chip.dataset);
  if (!isOpen()) query.toggleAttribute("data-cut", query.scrollWidth > query.clientWidth);
  if (!more || !isFolded()) return;
  more.hidden = false; // it needs room, too
  const row = chips.find((chip) => !("folded" in chip.dataset))?.offsetTop;
  for (const chip of chips.filter((each) => each.offsetTop > row)) chip.toggleAttribute("data-folded", true);
  const left = chips.filter((chip) => "folded" in chip.dataset);
  more.hidden = !left.length;
  more.textContent = `+${left.length}`;
  more.setAttribute("aria-label", `Show ${left.length} more highlighted terms`);
}

function wirePin() {
  const pin = document.getElementById("pin");
  pin.setAttribute("aria-pressed", String(reading.pinned));
  pin.addEventListener("click", () => {
    remember({ pinned: !reading.pinned });
    pin.setAttribute("aria-pressed", String(reading.pinned));
    fold(answered);
  });
}

function wireDim() {
  const dim = document.getElementById("dim");
  const show = () => { dim.setAttribute("aria-pressed", String(reading.dim)); look.toggle("bright", !reading.dim); };
  dim.addEventListener("click", () => { remember({ dim: !reading.dim }); show(); });
  show();
}

// What is chosen in the tools closes them, unless it is another switch or a step of the text size.
function wireTools() {
  tools.addEventListener("click", (event) => {
    const chosen = event.target.closest("button, a");
    if (chosen && !chosen.matches("[aria-pressed]:not(#pin), [data-size-step], .chip button") && tools.matches(":popover-open")) tools.hidePopover();
  });
  const place = () => { // a phone has room for the terms only in the tools, below what is used more
    const terms = document.getElementById("terms");
    const sizes = tools.querySelector(".sizes");
    if (phone.matches) tools.prepend(sizes);
    else tools.append(sizes);
    if (terms && phone.matches) tools.append(terms);
    else if (terms) document.getElementById("tools-button").before(terms);
  };
  phone.addEventListener("change", place);
  place();
  document.getElementById("add-term")?.addEventListener("click", () => document.getElementById("chip-add").focus());
}

export function wireHeader() {
  document.getElementById("details")?.addEventListener("click", (event) => {
    if (!isFolded() || tools.matches(":popover-open")) return; // in the tools it opens the details at once
    event.preventDefault();
    event.stopImmediatePropagation();
    turn(false);
  }, true);
  document.addEventListener("click", (event) => { if (event.target.closest(".chips__more")) turn(false); });
  short.addEventListener("change", () => { if (short.matches) { look.add("brief"); fold(answered); } });
  addEventListener("resize", foldTerms);
  wirePin();
  wireDim();
  wireTools();
  turn(isFolded());
}
