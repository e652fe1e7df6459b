// Sends the study with its progress in sight. Without it the form works just as well, unseen.
const form = document.getElementById("upload");
const shown = document.getElementById("sending");

function tell(sent, total) {
  shown.querySelector(".done").setAttribute("width", `${(100 * sent) / total}%`);
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  shown.querySelector("[data-said]").textContent =
    sent < total ? `Sending, ${megabytes(sent)} of ${megabytes(total)} MB` : "Sent";
}

function free(message) {
  form.querySelector("[type=submit]").disabled = false;
  shown.querySelector("[data-said]").textContent = message;
}

function send(event) {
  event.preventDefault();
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  // The body holds the form's token; in a header it is checked before the body is read.
  request.setRequestHeader("X-CSRF-Token", form.elements.csrf_token.value);
  request.upload.addEventListener("progress", (sent) => {
    if (sent.lengthComputable) tell(sent.loaded, sent.total);
  });
  request.addEventListener("load", () => {
    // The reply is a page behind a redirect: show it under its own address.
    if (request.status < 400) location.assign(request.responseURL);
    else if (request.status === 422) showPage(request.responseText);
    else free(`The server refused it (${request.status}). Load the page again and try once more.`);
  });
  request.addEventListener("error", () => free("The connection broke. Nothing was written; try again."));
  shown.hidden = false;
  form.querySelector("[type=submit]").disabled = true;
  request.send(new FormData(form));
}

function showPage(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const error = page.querySelector("#file-e, .error");
  free(error ? error.textContent.trim() : "The file was refused.");
}

form.addEventListener("submit", send);
