// The judging page: sends answers, shows the predicted next question at once, and corrects it by the server's reply.
import { Clock, reporter } from "../clock/clock.js";
import { wireDivider } from "../screen/divider.js";
import { refreshHits, wireFinder } from "../reading/finder.js";
import { isShown, listen, tokenOf } from "../frames/frames.js";
import { wireHeader } from "../screen/header.js";
import { wireHistory } from "./history.js";
import { hold } from "../frames/layout.js";
import { notePress, onKey, wireKeys } from "../keys/keys.js";
import * as notes from "./notes.js";
import * as notices from "../notices/notices.js";
import { Outbox } from "../offline/outbox.js";
import * as panes from "../screen/panes.js";
import { paintPassages, wirePassages } from "../reading/passages.js";
import { wireActivity, wirePause } from "./pause.js";
import * as pool from "../frames/pool.js";
import * as prefetch from "./prefetch.js";
import { wireReader } from "../reading/reader.js";
import { isLinked, rememberLinked, wireLetters, wireSizes } from "../screen/preferences.js";
import * as seen from "./seen.js";
import * as stage from "./stage.js";
import { wireTabs } from "../screen/tabs.js";
import { countEarly, countTerms, wireTerms } from "./terms.js";
import "../frames/fit.js";
import "../frames/readable.js";
import { compareSoon } from "../reading/same.js";
import { checkPages } from "../reading/text_view.js";

const { form, boxes } = stage;
const { work, next, timer, signIn, idleSeconds, questionMs, together } = form.dataset;
const csrf = () => form.elements.csrf_token.value;
const DEEPER_MS = 1500; // of reading, before questions further ahead are prefetched
let offline = false;
let deeper = null; // the timer for that
let painted = Promise.resolve(); // when the question on the screen has been painted

const clock = new Clock({
  face: document.querySelector("#clock time"),
  before: Number(form.querySelector("#entry").dataset.activeMs),
  question: Number(questionMs),
  idleMs: 1000 * Number(idleSeconds),
  report: (kind) => { reports.send(kind); if (together) lookAtTeam(); },
  stopped: (reason) => pause.automatically(reason),
  nearIdle: (isNear) => (isNear ? notices.tell("idle") : notices.clear("idle")),
});
const reports = reporter({ url: timer, csrf, clock: () => clock });
const pause = wirePause({ clock, reports, changed: pausedOrResumed, idleSeconds: Number(idleSeconds) });
const isOnlyHere = () => !outbox.empty && !outbox.isStored; // unsent answers would be lost with the page
const leaveFor = (address) => { if (!isOnlyHere()) { pause.left = true; location.assign(address); } };
const outbox = new Outbox({
  url: form.action,
  csrf,
  hooks: {
    offline() { offline = true; notices.clear("slow"); tellOffline(); settle(); },
    slow() { if (!offline) notices.tell("slow", { kept: keptText() }); },
    online() { offline = false; for (const kind of ["slow", "offline", "expired"]) notices.clear(kind); settle(); },
    failed: notices.askAgain,
    signedOut() { leaveFor(`${signIn}?reason=kept&next=${encodeURIComponent(work)}`); },
    outOfDate() { leaveFor(work); },
    renew,
  },
});

// The others of a team answer while this person reads.
async function lookAtTeam() {
  const response = await fetch(`${work}/progress`, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (response?.ok && outbox.empty) stage.showProgress(stage.parse(await response.text()));
}

// The person signs in in another tab; this one goes on with the new session. Nobody else can: they cannot open this work.
async function renew() {
  const response = await fetch(work).catch(() => null);
  const isOpen = response?.ok && !response.redirected;
  const { body } = new DOMParser().parseFromString(isOpen ? await response.text() : "", "text/html");
  const headers = body.getAttribute("hx-headers");
  if (!headers || headers === document.body.getAttribute("hx-headers")) { offline = true; notices.tell("expired"); return false; }
  document.body.setAttribute("hx-headers", headers);
  for (const field of document.getElementsByName("csrf_token")) field.value = JSON.parse(headers)["X-CSRF-Token"];
  return true;
}

const keptText = () => `${outbox.size === 1 ? "Your answer is" : `Your ${outbox.size} answers are`} ${outbox.isStored ? "stored in this browser" : "kept in this tab only"}`;

function tellOffline() {
  const open = outbox.isStored ? "Keep a private window open." : "Keep this tab open.";
  const more = form.dataset.saving ? "The next question needs the connection; the clock has stopped." : "You can continue.";
  notices.tell("offline", { kept: keptText(), open, more });
}

// Answers are enabled and the clock runs exactly when a question is shown, not paused and not saving; in a
// hidden tab the clock stands still. Without a
// connection a question is shown as long as its pages were prefetched.
function settle(pressed = null) {
  const open = !pause.paused && !form.dataset.saving;
  if (!form.dataset.saving || pause.paused) stage.enable(open, pressed);
  if (open && !document.hidden) clock.start();
  else clock.stop();
}

function pausedOrResumed() {
  settle();
  if (!pause.paused) seen.wait(visible()); // the pages load again
}

// Prefetch the possible next questions, from the reply or by a request of its own; `data-ahead` is the position for
// which they are ready.
async function lookAhead(reply = null) {
  const position = stage.position();
  await painted; // loading pages must not delay the question that is being shown
  if (position !== stage.position()) return null;
  const found = await (reply && prefetch.areIn(reply) ? prefetch.use(reply, boxes) : prefetch.ask(next, position, boxes));
  if (found !== "ready") return found;
  form.dataset.ahead = position;
  deepen(position);
  return found;
}

// Someone who reads for a while may lose the connection: prefetch the questions after the next ones, too.
function deepen(position) {
  clearTimeout(deeper);
  deeper = setTimeout(async () => {
    if (stage.position() !== position || !outbox.empty || offline || pause.paused) return;
    if (await prefetch.ask(next, position, boxes, { deep: true }) === "ready") form.dataset.deep = position;
  }, DEEPER_MS);
}

// Show a question; one that was on the screen already, with the same pages, stays open for answers.
function show(fragment, { again = false } = {}) {
  const wasSeen = again && seen.isSeen() && stage.identity(fragment) === stage.shown();
  prefetch.enter(fragment);
  stage.saved();
  panes.leaveFrames();
  stage.show(fragment);
  reader.markOpened();
  notes.open(stage.items());
  panes.settlePanes();
  markTabs();
  settle();
  painted = painting();
  hold(painted);
  if (!wasSeen) seen.wait(visible());
  afterPaint(() => requestIdleCallback(look, { timeout: 100 })); // other frames of the pages come first
}

const visible = () => painted.then(() => new Promise((resolve) => { pool.whenShown(boxes, resolve); }));

const afterPaint = (then) => requestAnimationFrame(() => setTimeout(then));
// A hidden tab paints nothing, so nothing waits long for it.
const painting = () => new Promise((resolve) => { afterPaint(resolve); setTimeout(resolve, 100); });

// What depends on the text of the pages can wait until they are painted.
function look() {
  pool.whenShown(boxes, () => { countTerms(); refreshHits(); paintPassages(); panes.settlePanes(); checkPages(); compareSoon(); });
}

async function submit(button) {
  const body = new URLSearchParams(new FormData(form, button));
  body.delete("csrf_token"); // a stored answer may be sent in a later session
  if (button.name === "step") body.delete("note");
  else notes.sent();
  if (button.name === "answer" && seen.isSeen()) body.set("shown", pool.shownFrames(boxes).map(tokenOf).join(" "));
  body.set("active_ms", String(clock.take()));
  notices.clear();
  stage.press(button);
  const predicted = prefetch.after(button.value);
  const sending = outbox.send(body.toString());
  if (predicted && !stage.isFinished(predicted) && (!offline || prefetch.arePagesThere(boxes, predicted))) show(predicted);
  else { clock.stop(); stage.saving(button); }
  if (offline) tellOffline();
  take(await sending, body);
}

// Handle the server's reply to an entry: it confirms what is shown, or replaces it.
function take({ status, text }, body = null) {
  notices.clear("error");
  const fragment = stage.parse(text);
  const truth = stage.identity(fragment);
  if (truth === null) return refused(status, fragment);
  if (status === 409) { outbox.drop(); keepNote(body); }
  if (!outbox.empty) return undefined; // a later answer is pending; its own reply will be compared
  if (stage.isFinished(fragment)) return leaveFor(work);
  const before = stage.position();
  const surprised = !form.dataset.saving && truth !== stage.shown();
  if (form.dataset.saving || surprised) show(fragment);
  const notice = fragment.querySelector("[data-notice]");
  if (notice) { notices.put(document.importNode(notice, true), notice.dataset.notice); notes.offer(stage.items(), notice.dataset.note); }
  else if (surprised && status === 200 && stage.position() !== before) notices.tell("elsewhere");
  lookAhead(fragment);
  return undefined;
}

// The note of an answer that was not recorded stays with its question.
function keepNote(body) {
  if (!body?.get("note")) return;
  const items = [...body].filter(([name]) => ["left", "right", "document"].includes(name));
  notes.offer(items.map(([name, value]) => `${name}=${value}`).join("&"), body.get("note"));
}

// Handle a refused entry without a question: withdrawn, or not allowed. The reloaded page explains it.
function refused(status, fragment) {
  outbox.drop();
  if (status === 409 || status === 404) return leaveFor(work);
  stage.saved();
  settle();
  return notices.tell("refused", { why: fragment.textContent.trim() });
}

// Reload the open question: after the highlighted terms changed, or when links to pages have expired (its pages were not
// seen then). The pages on the screen stay until the new ones are loaded.
async function refresh({ expired = false } = {}) {
  const response = await fetch(work, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!response) return;
  if (!response.ok) { leaveFor(work); return; }
  const fragment = stage.parse(await response.text());
  if (stage.isFinished(fragment)) { leaveFor(work); return; }
  if (!outbox.empty) return;
  await pool.prepare(boxes, [boxes.map((box) => [box, fragment.querySelector(`#${box.id} iframe`)])]);
  if (stage.position(fragment) < stage.position()) { refresh(); return; } // an answer was given meanwhile
  show(fragment, { again: !expired });
  lookAhead();
}

// A frame loads again after a pause: its marks and hits are counted and painted again.
for (const box of boxes) box.addEventListener("ready", (event) => { if (isShown(event.target)) afterPaint(look); else countEarly(event.target); });

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.submitter;
  if (!button || button.disabled || form.dataset.saving) return;
  if (seen.isOpen(button)) submit(button);
  else stage.refuse(button);
});
wireKeys();
wireActivity(() => clock.touch());
wireTerms(() => refresh());
wireFinder();
wireHistory();
wirePassages();
addEventListener("beforeunload", (event) => { if (isOnlyHere()) event.preventDefault(); });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

listen({
  key: onKey,
  press: (event, frame) => { notePress(event); panes.activate(panes.paneOf(frame)); },
  wheel: (frame) => panes.activate(panes.paneOf(frame)),
  focus: panes.showFocus,
  scroll: (frame) => panes.follow(panes.paneOf(frame)),
  active: () => clock.touch(),
  problem: (kind) => { if (kind === "expired") refresh({ expired: true }); },
});
const reader = wireReader(stage.stage, { loaded: paintPassages });
wireSizes(() => { pool.resize(boxes); reader.resize(); });
wireLetters();
wireHeader();
wireDivider(document.getElementById("divider"));
panes.wirePanes({ onSwitch: (pane) => showTab(pane), linked: isLinked(), onLink: rememberLinked });
const { mark: markTabs, show: showTab } = stage.stage.querySelector(".panetabs") ? wireTabs(stage.stage, panes.activate) : { mark() {}, show() {} };

async function begin() {
  seen.wait(visible());
  const kept = outbox.recover();
  if (kept.length) {
    stage.saving(null);
    const replies = await outbox.sendAll(kept);
    take(replies.at(-1), new URLSearchParams(kept.at(-1)));
    if (replies.at(-1).status === 200) notices.tell("sent", { kept: kept.length === 1 ? "The stored answer is" : `The ${kept.length} stored answers are` });
  } else lookAhead().then((found) => { if (found === "behind") refresh(); }); // the page was rendered while the last answer was in transit
  pool.whenShown(boxes, () => { reports.send("start"); pause.begin(); settle(); look(); });
}

function arrive() {
  notes.open(stage.items());
  notes.offer(stage.items(), document.querySelector("#notice [data-note]")?.dataset.note);
  stage.restoreLists();
  stage.announce();
}

pool.begin(boxes);
arrive();
begin();
