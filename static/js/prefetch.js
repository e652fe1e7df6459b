// What may come next: sent with the reply to an answer, or asked for while the person reads, without a trace; made
// ready unseen.
import * as pool from "./pool.js";
import { parse } from "./stage.js";

const LIKELY = 3; // preferences come first; pages taken out, undo and redo can wait
let known = new Map(); // answer -> template
let asked = 0;

export const forget = () => { known = new Map(); };

export const after = (answer) => known.get(answer)?.content ?? null;

// Take what may come next from a fragment; resolves with "ready" when all of it is, with null when something else
// was asked meanwhile.
export async function use(fragment, boxes) {
  const number = (asked += 1);
  forget();
  const templates = [...fragment.querySelectorAll("template[data-answers]")];
  for (const template of templates) {
    for (const answer of JSON.parse(template.dataset.answers)) known.set(answer, template);
  }
  const framesIn = (template) => boxes.flatMap((box) => [...template.content.querySelectorAll(`#${box.id} iframe`)].map((frame) => [box, frame]));
  const prepared = await pool.prepare(boxes, [templates.slice(0, LIKELY), templates.slice(LIKELY)].map((some) => some.flatMap(framesIn)));
  return prepared && number === asked ? "ready" : null;
}

export const areIn = (fragment) => fragment.querySelector("template[data-answers]") !== null;

// Ask the server. Resolves like `use`, with "behind" when the log is no longer at this position, and with null also
// when the server could not be asked.
export async function ask(url, position, boxes) {
  const number = (asked += 1);
  forget();
  let text;
  try {
    const response = await fetch(`${url}?position=${position}`, { headers: { "HX-Request": "true" } });
    if (response.status === 409) return "behind";
    if (!response.ok) return null;
    text = await response.text();
  } catch {
    return null; // the answer will be asked for in the ordinary way
  }
  if (number !== asked) return null; // meanwhile another question is open
  return use(parse(text), boxes);
}
