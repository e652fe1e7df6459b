// Runs before the first paint: the divider, the header and the brightness of pages are as the person left them. In a short
// window, as at 200 % zoom, the header is one line from the first question on.
(() => {
  const [, split, pinned, dim] = /(?:^|; )topkapi_view=s[1-5]\.l[01](?:\.d(\d{1,2}))?(?:\.h([01])\.m([01]))?(?:;|$)/.exec(document.cookie) ?? [];
  if (split) document.documentElement.style.setProperty("--split", `${split}%`);
  if (dim === "0") document.body.classList.add("bright");
  if (!matchMedia("(max-height: 500px)").matches) return;
  document.body.classList.add("brief");
  document.body.classList.toggle("folded", pinned !== "1");
})();
