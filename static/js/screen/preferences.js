// Display preferences on this device: text size, single-letter shortcuts, divider, pinned header, dim pages. Stored in a cookie that the server reads too.
const found = /(?:^|; )topkapi_view=s([1-5])\.l([01])(?:\.d(\d{1,2}))?(?:\.h([01])\.m([01]))?(?:;|$)/.exec(document.cookie) ?? [];

export const reading = {
  size: Number(found[1] ?? 3),
  letters: (found[2] ?? "1") === "1",
  split: Number(found[3] ?? 50),
  pinned: found[4] === "1",
  dim: found[5] !== "0",
};

export function remember(change) {
  Object.assign(reading, change);
  const { size, letters, split, pinned, dim } = reading;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `topkapi_view=s${size}.l${Number(letters)}.d${split}.h${Number(pinned)}.m${Number(dim)}; path=${new URL("../../../", import.meta.url).pathname}; max-age=31536000; samesite=lax${secure}`;
}

// Linked scrolling is a habit of the person at this device; it is not needed before the page is drawn.
export const isLinked = () => { try { return localStorage.getItem("topkapi-linked") === "1"; } catch { return false; } };
export const rememberLinked = (on) => { try { localStorage.setItem("topkapi-linked", on ? "1" : "0"); } catch { /* until the page is closed */ } };

export function wireSizes(changed) {
  const buttons = [...document.querySelectorAll("[data-size-step]")];
  const step = (button) => Number(button.dataset.sizeStep);
  const limit = () => buttons.forEach((button) => { button.disabled = reading.size + step(button) < 1 || reading.size + step(button) > 5; });
  buttons.forEach((button) => button.addEventListener("click", () => {
    remember({ size: Math.min(5, Math.max(1, reading.size + step(button))) });
    limit();
    changed();
  }));
  limit();
}

export function wireLetters() {
  const box = document.getElementById("letters");
  box.checked = reading.letters;
  box.addEventListener("change", () => remember({ letters: box.checked }));
}
