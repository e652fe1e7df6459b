// Requests that outlive the page. A browser lets 64 KiB of their bodies be on their way, and fails any beyond that.
const LIMIT_BYTES = 48 * 1024; // leaves room for what the clock sends as the page goes
let underway = 0;

// `fetch` of a text body, kept alive if there is room for it, else in the ordinary way.
export async function send(url, { body, ...options }) {
  const bytes = new TextEncoder().encode(body).length;
  const keepalive = underway + bytes <= LIMIT_BYTES;
  if (keepalive) underway += bytes;
  try {
    return await fetch(url, { ...options, body, keepalive });
  } finally {
    if (keepalive) underway -= bytes;
  }
}
