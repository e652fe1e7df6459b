// The judging page: sends answers, shows the predicted next question at once, and corrects it by the server's reply.
import { Clock, reporter } from "./clock.js";
import { wireDivider } from "./divider.js";
import { listen } from "./frames.js";
import { onKey, wireKeys } from "./keys.js";
import * as notices from "./notices.js";
import { Outbox } from "./outbox.js";
import { wireActivity, wirePause } from "./pause.js";
import * as pool from "./pool.js";
import * as prefetch from "./prefetch.js";
import { wireReader } from "./reader.js";
import { wireLetters, wireSizes } from "./reading.js";
import * as stage from "./stage.js";
import { wireTabs } from "./tabs.js";

const { form, boxes } = stage;
const { assignment, user, work, next, timer, signIn, idleSeconds, questionMs } = form.dataset;
const csrf = form.elements.csrf_token.value;
let offline = false;

const clock = new Clock({
  face: document.querySelector("#clock time"),
  before: Number(form.querySelector("#entry").dataset.activeMs),
  question: Number(questionMs),
  idleMs: 1000 * Number(idleSeconds),
  report: (kind) => reports.send(kind),
  stopped: (reason) => pause.automatically(reason),
});
const reports = reporter({ url: timer, csrf, clock: () => clock });
const pause = wirePause({ clock, reports, changed: settle, idleSeconds: Number(idleSeconds) });
const leaveFor = (address) => { pause.left = true; location.assign(address); };
const outbox = new Outbox({
  url: form.action,
  csrf,
  user,
  name: `topkapi-outbox-${assignment}`,
  hooks: {
    offline() { offline = true; notices.tell("offline"); settle(); },
    online() { if (offline) { offline = false; notices.clear("offline"); settle(); } },
    failed() { return notices.askAgain(); },
    signedOut() { leaveFor(`${signIn}?next=${encodeURIComponent(work)}`); },
    outOfDate() { leaveFor(work); },
  },
});

// Answers are enabled and the clock runs exactly when a question is shown, not paused, online and not saving.
function settle(pressed = null) {
  const open = !pause.paused && !offline && !form.dataset.saving;
  if (!form.dataset.saving || pause.paused) stage.enable(open, pressed);
  if (open) clock.start();
  else clock.stop();
}

// Prefetch the possible next questions, from the reply or by a request of its own; `data-ahead` is the position for
// which they are ready.
async function lookAhead(reply = null) {
  const position = stage.position();
  const found = await (reply && prefetch.areIn(reply) ? prefetch.use(reply, boxes) : prefetch.ask(next, position, boxes));
  if (found === "ready") form.dataset.ahead = position;
  return found;
}

function show(fragment) {
  prefetch.forget();
  stage.saved();
  stage.show(fragment);
  markTabs();
  settle();
}

async function submit(button) {
  const body = new URLSearchParams(new FormData(form, button));
  body.delete("csrf_token"); // a stored answer may be sent in a later session
  if (button.name === "step") body.delete("note");
  else stage.clearNote();
  body.set("active_ms", String(clock.take()));
  notices.clear();
  stage.press(button);
  const predicted = prefetch.after(button.value);
  const sending = outbox.send(body.toString());
  if (predicted && !stage.isFinished(predicted)) show(predicted);
  else { clock.stop(); stage.saving(button); }
  take(await sending);
}

// Handle the server's reply to an entry: it confirms what is shown, or replaces it.
function take({ status, text }) {
  const fragment = stage.parse(text);
  const truth = stage.identity(fragment);
  if (truth === null) return refused(status, fragment);
  if (status === 409) outbox.drop();
  if (!outbox.empty) return undefined; // a later answer is pending; its own reply will be compared
  if (stage.isFinished(fragment)) return leaveFor(work);
  const before = stage.position();
  const surprised = !form.dataset.saving && truth !== stage.shown();
  if (form.dataset.saving || surprised) show(fragment);
  const notice = fragment.querySelector("[data-notice]");
  if (notice) notices.put(document.importNode(notice, true), "stale");
  else if (surprised && status === 200 && stage.position() !== before) notices.tell("elsewhere");
  lookAhead(fragment);
  return undefined;
}

// Handle a refused entry without a question: withdrawn, or not allowed. The reloaded page explains it.
function refused(status, fragment) {
  outbox.drop();
  if (status === 409 || status === 404) return leaveFor(work);
  stage.saved();
  settle();
  return notices.tell("refused", { why: fragment.textContent.trim() });
}

// Reload the open question: after the highlighted terms changed, or when links to pages have expired.
async function refresh() {
  const response = await fetch(work, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!response) return;
  if (!response.ok) { leaveFor(work); return; }
  const fragment = stage.parse(await response.text());
  if (stage.isFinished(fragment)) { leaveFor(work); return; }
  if (!outbox.empty) return;
  show(fragment);
  lookAhead();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter && !event.submitter.disabled && !form.dataset.saving) submit(event.submitter);
});
wireKeys();
wireActivity(() => clock.touch());
document.addEventListener("htmx:afterSettle", (event) => { if (event.target.id === "terms") refresh(); });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

listen({ key: onKey, active: () => clock.touch(), problem: (kind) => { if (kind === "expired") refresh(); } });
const resizeLists = wireReader(stage.stage);
wireSizes(() => { pool.resize(boxes); resizeLists(); });
wireLetters();
wireDivider(document.getElementById("divider"));
const markTabs = stage.stage.querySelector(".panetabs") ? wireTabs(stage.stage) : () => {};

async function begin() {
  const kept = outbox.recover();
  if (kept.length) {
    stage.saving(null);
    const replies = await Promise.all(kept.map((body) => outbox.send(body)));
    take(replies.at(-1));
    if (replies.at(-1).status === 200) notices.tell("sent");
  } else lookAhead().then((found) => { if (found === "behind") refresh(); }); // the page was rendered while the last answer was in transit
  pool.whenShown(boxes, () => { reports.send("start"); pause.begin(); settle(); });
}

pool.begin(boxes);
begin();
