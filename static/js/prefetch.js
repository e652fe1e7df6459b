// Prefetch of possible next questions: sent with the reply to an answer, or requested while the person reads (this is
// not logged). Their pages load in hidden frames.
import * as pool from "./pool.js";
import { parse } from "./stage.js";

const LIKELY = 3; // preferences come first; removed pages, undo and redo can wait
let known = new Map(); // answer -> template
let latest = 0; // number of the latest prefetch

export const forget = () => { known = new Map(); };

export const after = (answer) => known.get(answer)?.content ?? null;

// Prefetch the possible next questions in a fragment. Resolves with "ready" when all frames are loaded, with null
// when a newer prefetch has replaced this one.
export async function use(fragment, boxes) {
  const number = (latest += 1);
  forget();
  const templates = [...fragment.querySelectorAll("template[data-answers]")];
  for (const template of templates) {
    for (const answer of JSON.parse(template.dataset.answers)) known.set(answer, template);
  }
  const framesIn = (template) => boxes.flatMap((box) => [...template.content.querySelectorAll(`#${box.id} iframe`)].map((frame) => [box, frame]));
  const prepared = await pool.prepare(boxes, [templates.slice(0, LIKELY), templates.slice(LIKELY)].map((some) => some.flatMap(framesIn)));
  return prepared && number === latest ? "ready" : null;
}

export const areIn = (fragment) => fragment.querySelector("template[data-answers]") !== null;

// Request the possible next questions. Resolves like `use`, with "behind" when the log is no longer at this position,
// and with null also when the request failed.
export async function ask(url, position, boxes) {
  const number = (latest += 1);
  forget();
  let text;
  try {
    const response = await fetch(`${url}?position=${position}`, { headers: { "HX-Request": "true" } });
    if (response.status === 409) return "behind";
    if (!response.ok) return null;
    text = await response.text();
  } catch {
    return null; // the next question then comes with the reply to the answer
  }
  if (number !== latest) return null; // another question is open now
  return use(parse(text), boxes);
}
