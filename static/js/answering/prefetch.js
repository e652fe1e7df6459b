// Prefetch of possible next questions: sent with the reply to an answer, or requested while the person reads (this is
// not logged). Their pages load in hidden frames. A template may contain the questions after its own one, so that the
// person can go on for some answers without a connection.
import * as pool from "../frames/pool.js";
import { parse } from "./stage.js";

const LIKELY = 3; // preferences come first; removed pages, undo and redo can wait
let known = new Map(); // answer -> template
let latest = 0; // number of the latest prefetch

const templatesIn = (fragment) => [...fragment.querySelectorAll("template[data-answers]")];

function learn(templates) {
  known = new Map(templates.flatMap((template) => JSON.parse(template.dataset.answers).map((answer) => [answer, template])));
}

// Another question is shown: what was requested for the last one is out of date, what came with it is known.
export function enter(fragment) {
  latest += 1;
  learn(templatesIn(fragment));
}

export const after = (answer) => known.get(answer)?.content ?? null;

const framesIn = (boxes, fragment) => boxes.flatMap((box) => [...fragment.querySelectorAll(`#${box.id} iframe`)].map((frame) => [box, frame]));

export const arePagesThere = (boxes, fragment) => framesIn(boxes, fragment).every(([box, frame]) => pool.has(boxes, box, frame));

// Prefetch the possible next questions in a fragment. Resolves with "ready" when all frames are loaded, with null
// when a newer prefetch has replaced this one.
export async function use(fragment, boxes) {
  const number = (latest += 1);
  const templates = templatesIn(fragment);
  learn(templates);
  const groups = [templates.slice(0, LIKELY), templates.slice(LIKELY)];
  for (let later = templates; later.length;) groups.push(later = later.flatMap((template) => templatesIn(template.content)));
  const prepared = await pool.prepare(boxes, groups.map((some) => some.flatMap((template) => framesIn(boxes, template.content))));
  return prepared && number === latest ? "ready" : null;
}

export const areIn = (fragment) => templatesIn(fragment).length > 0;

// Request the possible next questions, with `deep` also those after them. Resolves like `use`, with "behind" when the
// log is no longer at this position, and with null also when the request failed.
export async function ask(url, position, boxes, { deep = false } = {}) {
  const number = (latest += 1);
  let text;
  try {
    const response = await fetch(`${url}?position=${position}${deep ? "&deep=true" : ""}`, { headers: { "HX-Request": "true" } });
    if (response.status === 409) return "behind";
    if (response.status === 204) return "ready"; // the server foresees no more than is known
    if (!response.ok) return null;
    text = await response.text();
  } catch {
    return null; // the next question then comes with the reply to the answer
  }
  if (number !== latest) return null; // another question is open now
  return use(parse(text), boxes);
}
