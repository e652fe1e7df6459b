// What may come next: asked for while the person reads, without a trace, and made ready unseen.
import * as pool from "./pool.js";

const LIKELY = 3; // preferences come first; pages taken out, undo and redo can wait
let known = new Map(); // answer -> template
let asked = 0;

export const forget = () => { known = new Map(); };

export const after = (answer) => known.get(answer)?.content ?? null;

// Resolves with true when all of it is ready, with false when something else was asked meanwhile.
export async function ask(url, position, boxes) {
  const number = (asked += 1);
  forget();
  let text;
  try {
    const response = await fetch(`${url}?position=${position}`, { headers: { "HX-Request": "true" } });
    if (!response.ok) return false;
    text = await response.text();
  } catch {
    return false; // the answer will be asked for in the ordinary way
  }
  if (number !== asked) return false; // meanwhile another question is open
  const templates = [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("template")];
  for (const template of templates) {
    for (const answer of JSON.parse(template.dataset.answers)) known.set(answer, template);
  }
  const framesIn = (template) => boxes.flatMap((box) => [...template.content.querySelectorAll(`#${box.id} iframe`)].map((frame) => [box, frame]));
  return pool.prepare(boxes, [templates.slice(0, LIKELY), templates.slice(LIKELY)].map((some) => some.flatMap(framesIn)));
}
