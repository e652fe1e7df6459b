// Keyboard shortcuts: each control names its key in aria-keyshortcuts, and the key clicks the control.
import { reading } from "./reading.js";

const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";

// A field in a dialog that was just closed may keep focus for one more animation frame.
const isTyping = (target) => Boolean(target.closest?.(TYPING)) && !target.closest(".dialog:not(:popover-open)");

function nameOf(event) {
  if (event.key.length > 1) return event.shiftKey ? `Shift+${event.key}` : event.key;
  if (!reading.letters || (event.shiftKey && event.key !== "?")) return null;
  return event.key.toUpperCase();
}

function controlOf(name) {
  const open = document.querySelector(":popover-open");
  const controls = [...document.querySelectorAll("[aria-keyshortcuts]")];
  return controls.find((control) => {
    if (control.getAttribute("aria-keyshortcuts") !== name || control.disabled || control.hidden) return false;
    // Behind an open dialog no shortcut works, except the one that closes it.
    return !open || control.getAttribute("popovertarget") === open.id;
  });
}

// Handles key presses in the judging page and in every page frame.
export function onKey(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) return;
  const name = nameOf(event);
  const control = name && controlOf(name);
  if (!control) return;
  event.preventDefault();
  if (!event.repeat) control.click(); // a key that is held down counts once
}

export function wireKeys() {
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    // The second click of a double click was meant for the previous question.
    if (event.detail > 1 && event.target.closest("button[name=answer]")) event.preventDefault();
  }, true);
}
