// Upload of a study with a progress bar. Without this script the form still works, without progress.
const form = document.getElementById("upload");
const shown = document.getElementById("sending");

function showProgress(sent, total) {
  shown.querySelector(".done").setAttribute("width", `${(100 * sent) / total}%`);
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  shown.querySelector("[data-said]").textContent =
    sent < total ? `Sending, ${megabytes(sent)} of ${megabytes(total)} MB` : "Sent";
}

function stopWith(message) {
  form.querySelector("[type=submit]")?.removeAttribute("disabled");
  shown.querySelector("[data-said]").textContent = message;
}

function send(event) {
  event.preventDefault();
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  // The CSRF token is in the body too; in a header it is checked before the body is read.
  request.setRequestHeader("X-CSRF-Token", form.elements.csrf_token.value);
  request.upload.addEventListener("progress", (sent) => {
    if (sent.lengthComputable) showProgress(sent.loaded, sent.total);
  });
  request.addEventListener("load", () => {
    // The reply was redirected to a page: load that page.
    if (request.status < 400) location.assign(request.responseURL);
    else if (request.status === 422) showPage(request.responseText);
    else stopWith(`The server refused the file (status ${request.status}). Reload the page and try again.`);
  });
  request.addEventListener("error", () => stopWith("The connection was lost. Nothing was written; try again."));
  shown.hidden = false;
  form.querySelector("[type=submit]")?.setAttribute("disabled", "");
  request.send(new FormData(form));
}

function showPage(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const error = page.querySelector("#file-e, .error");
  stopWith(error ? error.textContent.trim() : "The file was refused.");
}

form.addEventListener("submit", send);
if ("atOnce" in form.dataset) form.elements.file.addEventListener("change", () => form.requestSubmit());
