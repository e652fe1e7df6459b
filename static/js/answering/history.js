// Past answers in a dialog over the question. Without scripts, or in another tab, the same link leads to a page.
const dialog = document.getElementById("history");
const content = document.getElementById("history-content");
const FAILED = "Your answers could not be loaded. Close this, check the connection and open it again.";

async function load(address) {
  const response = await fetch(address, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (response?.status === 401) location.reload(); // signs in and returns
  else if (response?.ok) content.innerHTML = await response.text();
  else content.textContent = FAILED;
}

export function wireHistory() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-opens=history], #history .pager a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!dialog.open) { content.replaceChildren(); dialog.showModal(); }
    load(link.href);
  });
}
