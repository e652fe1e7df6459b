// A member of a team who has no question at the moment: look again until there is one, or the list is final.
const LOOK_MS = 5000;
const { work } = document.getElementById("waits").dataset;

async function look() {
  const response = await fetch(work, { headers: { "HX-Request": "true" } }).catch(() => null);
  const text = response?.ok ? await response.text() : "";
  const { state } = new DOMParser().parseFromString(text, "text/html").getElementById("entry")?.dataset ?? {};
  if ((state && state !== "waiting") || response?.status === 401) location.reload();
  else setTimeout(look, LOOK_MS);
}

setTimeout(look, LOOK_MS);
