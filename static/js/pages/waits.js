// A member of a team who has no question at the moment: look again until there is one, or the list is final.
const LOOK_MS = 5000;
const count = document.getElementById("count");
const { work } = document.getElementById("waits").dataset;

async function look() {
  const response = await fetch(work, { headers: { "HX-Request": "true" } }).catch(() => null);
  const text = response?.ok ? await response.text() : "";
  const found = new DOMParser().parseFromString(text, "text/html");
  const { state } = found.getElementById("entry")?.dataset ?? {};
  const answered = found.getElementById("progress")?.getAttribute("aria-valuenow");
  if (answered) count.textContent = answered;
  count.parentElement.hidden = count.textContent === "0";
  if ((state && state !== "waiting") || response?.status === 401) location.reload();
  else setTimeout(look, LOOK_MS);
}

setTimeout(look, LOOK_MS);
