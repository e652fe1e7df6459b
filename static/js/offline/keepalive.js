// Requests that outlive the page. A browser allows 64 KiB of pending keepalive bodies and fails any request beyond that.
const LIMIT_BYTES = 48 * 1024; // the rest is reserved for the clock's report when the page closes
let pending = 0;

// `fetch` with a text body; `keepalive` if the limit allows it.
export async function send(url, { body, ...options }) {
  const bytes = new TextEncoder().encode(body).length;
  const keepalive = pending + bytes <= LIMIT_BYTES;
  if (keepalive) pending += bytes;
  try {
    return await fetch(url, { ...options, body, keepalive });
  } finally {
    if (keepalive) pending -= bytes;
  }
}
