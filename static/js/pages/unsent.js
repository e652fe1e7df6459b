// On the queue: name the queries with answers that are stored in this browser and not yet sent.
const list = document.getElementById("unsent");
const prefix = `topkapi-outbox-${list.dataset.user}-`;

function countIn(key) {
  try {
    return JSON.parse(localStorage.getItem(key)).length;
  } catch {
    return 0;
  }
}

for (const link of document.querySelectorAll("a[data-assignment]")) {
  const count = countIn(`${prefix}${link.dataset.assignment}`);
  if (!count) continue;
  const text = link.dataset.query ?? link.textContent; // the next query has a button
  const copy = Object.assign(document.createElement("a"), { href: link.href, dir: "auto", textContent: text });
  const item = document.createElement("li");
  item.append(copy, `: ${count === 1 ? "one answer" : `${count} answers`}`);
  list.querySelector("ul").append(item);
  list.hidden = false;
}
