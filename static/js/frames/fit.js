// Fits pages that are wider than their pane to its width, as long as the person wants that; kept on this device.
const NAME = "topkapi-fit";
const LEAST = 0.35; // smaller text could not be read
const button = document.querySelector("[data-fit]");
const stage = document.getElementById("main");

let on = false;
try { on = localStorage.getItem(NAME) === "1"; } catch { /* without storage it starts switched off */ }

function fit(frame) {
  const page = frame.contentDocument;
  if (!page?.body || !page.URL.includes("/pages/") || (!on && !page.body.style.zoom)) return; // measuring costs a layout
  page.body.style.zoom = "";
  const { scrollWidth, clientWidth } = page.documentElement;
  if (on && scrollWidth > clientWidth + 1) page.body.style.zoom = String(Math.max(LEAST, clientWidth / scrollWidth));
}

function fitAll() {
  button?.setAttribute("aria-pressed", String(on));
  stage.querySelectorAll(".frames iframe").forEach(fit);
}

button?.addEventListener("click", () => {
  on = !on;
  try { localStorage.setItem(NAME, on ? "1" : "0"); } catch { /* it then lasts until the page is left */ }
  fitAll();
});
for (const name of ["ready", "whole"]) stage.addEventListener(name, (event) => fit(event.target)); // frames tell when their page is there
addEventListener("resize", fitAll);
fitAll();
