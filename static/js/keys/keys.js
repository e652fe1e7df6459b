// Keyboard shortcuts. A control names its key in aria-keyshortcuts, and the key clicks it; reading keys scroll the active
// pane. Keys that scroll, select or type inside a page never answer, and Esc always returns to answering.
import { openDialog } from "../notices/dialogs.js";
import * as finder from "../reading/finder.js";
import * as notices from "../notices/notices.js";
import * as panes from "../screen/panes.js";
import { reading } from "../screen/preferences.js";

const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]:not([contenteditable=false]), audio, video";
const PRESSED_BY_SPACE = "button, a[href], summary, input, [role=separator]";
const SCROLLS = {
  ArrowDown: "down", ArrowUp: "up", Space: "screen_down", "Shift+Space": "screen_up", PageDown: "screen_down", PageUp: "screen_up", Home: "home", End: "end",
  F6: "switch",
};
const pressedIn = new WeakMap(); // document of a page -> where the person last clicked in it

export const notePress = (event) => pressedIn.set(event.target.ownerDocument ?? event.target, event.target);

// A field in a dialog that was just closed may keep focus for one more animation frame.
const isTyping = (target) => Boolean(target.closest?.(TYPING)) && !target.closest("dialog:not([open])");

// Return the names that a key may have as a shortcut. A digit may need Shift, as on a French keyboard, or be typed without
// it; a letter of another script counts as the Latin letter on the same key.
export function namesOf({ key, code, shiftKey }) {
  if (key === " ") return [shiftKey ? "Shift+Space" : "Space"];
  if (key.length > 1) return [shiftKey ? `Shift+${key}` : key];
  if (!reading.letters) return [];
  if (key === "+") return ["Plus"];
  if (/^[0-9]$/.test(key)) return [key];
  if (/^[a-z]$/i.test(key)) return shiftKey ? [] : [key.toUpperCase()];
  const place = shiftKey ? null : /^(?:Digit|Key)(.)$/.exec(code ?? "");
  const counts = place && (code.startsWith("Digit") || key > "\x7f");
  return counts ? [key, place[1]] : [key];
}

const opensOf = (control) => control.getAttribute("commandfor") ?? control.dataset.opens;
const opened = () => openDialog() ?? document.querySelector(":popover-open"); // a dialog, or the tools

function controlOf(name) {
  const open = opened();
  const controls = [...document.querySelectorAll("[aria-keyshortcuts]")];
  return controls.find((control) => {
    if (control.getAttribute("aria-keyshortcuts") !== name || control.disabled || control.hidden || control.closest("dialog:not([open])")) return false;
    // While a dialog is open only its own shortcuts work, and the one that closes it.
    return !open || open.contains(control) || opensOf(control) === open.id;
  });
}

// Return whether the key scrolls or selects where the person is inside a page.
function belongsToPage(event) {
  const page = event.target.ownerDocument;
  if (page === document || !event.key.startsWith("Arrow")) return false;
  if (event.shiftKey) return page.getSelection()?.rangeCount > 0; // it selects from where the person has clicked, or further
  if (event.key === "ArrowUp" || event.key === "ArrowDown") return true;
  const focused = page.activeElement ?? page.body;
  const inner = focused === page.body || focused === page.documentElement ? pressedIn.get(page) : focused;
  return panes.scrollsSideways(inner?.isConnected ? inner : page.body);
}

const STEPS = { ArrowLeft: ["left", "character"], ArrowRight: ["right", "character"], ArrowUp: ["backward", "line"], ArrowDown: ["forward", "line"] };

// Begin to select where the person has clicked; a browser only goes on with what is selected.
function beginSelecting(event) {
  const selection = event.target.ownerDocument.getSelection();
  if (!event.shiftKey || selection.type !== "Caret") return;
  event.preventDefault();
  selection.modify("extend", ...STEPS[event.key]);
}

function readingActionOf(name, event) {
  const action = SCROLLS[name] ?? panes.actionOf(name);
  if (!action) return null;
  const inPage = event.target.ownerDocument !== document;
  if (inPage && name in SCROLLS && name !== "F6") return null; // the browser scrolls what the person is in
  if (name.endsWith("Space") && event.target.closest?.(PRESSED_BY_SPACE)) return null;
  const open = opened();
  return open && open.id !== "reader" ? null : action;
}

// Leave fields, pages and selections: the next key answers.
export function toAnswering() {
  finder.close();
  panes.clearSelections();
  document.activeElement?.blur();
  window.focus();
}

// Esc frees from every state: it closes what is open, ends a pause, and leaves fields, pages and selections.
function escape() {
  const open = openDialog();
  const resume = document.getElementById("resume");
  if (open) {
    open.close();
    open.dispatchEvent(new Event("closed")); // the browser's event may come after the next key
    return;
  }
  if (resume) resume.click();
  else notices.dismiss();
  document.querySelector(":popover-open")?.hidePopover();
  toAnswering();
}

// Ctrl+Enter, or Cmd+Enter, presses the button at the foot of a dialog: it saves, and the dialog closes.
function save(event) {
  const dialog = openDialog();
  const button = event.key === "Enter" && (event.ctrlKey || event.metaKey) ? dialog?.querySelector(".dialog__foot button") : null;
  if (!button) return;
  event.preventDefault();
  dialog.dataset.closes = "1";
  button.click();
}

function press(control) {
  const open = openDialog();
  if (open && !open.contains(control)) open.close(); // the key that opened it
  else if (control.matches("input")) { control.closest("[popover]:not(:popover-open)")?.showPopover(); control.focus(); }
  else control.click();
}

// Handles key presses in the judging page and in every page frame.
export function onKey(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  if (event.ctrlKey || event.metaKey) { save(event); return; }
  if (event.key === "Escape") {
    event.preventDefault();
    escape();
    return;
  }
  if (isTyping(event.target)) return;
  const names = namesOf(event);
  const isOfPage = belongsToPage(event);
  if (isOfPage) beginSelecting(event);
  const control = isOfPage ? null : names.map(controlOf).find(Boolean);
  const action = names.map((name) => readingActionOf(name, event)).find(Boolean);
  if (control) {
    event.preventDefault();
    if (event.repeat && !("hit" in control.dataset)) return; // a key that is held down counts once
    press(control);
  } else if (action && panes.act(action, event.repeat)) event.preventDefault();
}

export function wireKeys() {
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const answer = event.target.closest("#answers button[type=submit], button[form=answers]");
    // After a click with the mouse, Space scrolls on instead of pressing the same answer again.
    if (event.detail > 0 && answer) answer.blur();
  }, true);
}
