// A worker that counts seconds beside the page. After a gap it knows whether the computer was asleep: then it has counted hardly
// anything; while the page was only blocked, it went on.
let seconds = 0;
setInterval(() => postMessage({ seconds: (seconds += 1) }), 1000);
addEventListener("message", ({ data: { gap, since } }) => postMessage({ asleep: 2000 * (seconds - since) < gap }));
