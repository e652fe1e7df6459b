// A page opened from a list: in a sandboxed frame over the list, closed with Esc. The next and the previous page of the
// list open from there, and results that were opened are marked, also after a reload.
import { adopt } from "../frames/frames.js";
import { reading } from "../screen/preferences.js";
import { keep, load } from "../offline/store.js";

const opened = new Set(load("opened", []));

function frameFor(link) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-same-origin"); // must be set before the address
  frame.className = `frame${"light" in link.dataset ? " frame--light" : ""}`;
  frame.title = link.textContent;
  frame.src = link.href;
  if (link.dataset.name) frame.dataset.name = link.dataset.name;
  frame.hidden = true; // until it hears keys: a click into it takes them from the page
  frame.addEventListener("load", () => { frame.hidden = false; }, { once: true });
  adopt(frame);
  return frame;
}

const isPlain = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey);

export function wireReader(stage, { loaded = () => {} } = {}) {
  const dialog = document.getElementById("reader");
  if (!dialog) return { resize() {}, markOpened() {} };
  const content = dialog.querySelector(".reader");
  content.addEventListener("ready", loaded);
  const turns = [...dialog.querySelectorAll("[data-turn]")];
  let shown = null; // the link of the page that is shown

  const linksBeside = (link) => [...link.closest(".pane__scroll, dialog, main").querySelectorAll("a[data-page]")];
  const markOpened = () => stage.querySelectorAll(".results a[data-page]").forEach((link) => link.toggleAttribute("data-opened", opened.has(link.dataset.name)));

  function turnTo(link) {
    shown = link;
    const links = linksBeside(link);
    const at = links.indexOf(link);
    turns.forEach((button) => { button.disabled = !links[at + Number(button.dataset.turn)]; });
    dialog.querySelector("#reader-place").textContent = `${at + 1} of ${links.length}`;
    dialog.querySelector("h2").textContent = link.textContent;
    content.removeAttribute("data-focused");
    content.replaceChildren(frameFor(link));
    if (!link.dataset.name) return; // a page of an earlier answer
    opened.add(link.dataset.name);
    keep("opened", [...opened]);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-page]");
    if (!link || !isPlain(event)) return;
    event.preventDefault();
    turnTo(link);
    dialog.showModal();
  });
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("[data-turn]");
    if (!button) return;
    const links = linksBeside(shown);
    turnTo(links[links.indexOf(shown) + Number(button.dataset.turn)]);
    if (button.disabled || document.activeElement === document.body) dialog.querySelector("h2").focus();
  });
  function settle() {
    if (dialog.open || !shown) return; // another page is open, or Esc has done it
    const last = shown;
    shown = null;
    content.replaceChildren();
    markOpened();
    last.scrollIntoView({ block: "nearest", behavior: "instant" });
    if (document.activeElement?.matches("a[data-page]")) last.focus({ preventScroll: true }); // not where the reading began
  }
  dialog.addEventListener("closed", settle);
  dialog.addEventListener("close", settle);
  markOpened();
  const split = stage.querySelector("#split[data-size]");
  return { markOpened, resize() { if (split) split.dataset.size = String(reading.size); } };
}
