// On a phone the two pages are a horizontal strip: tabs follow swipes, and tab clicks add no history entries.
export function wireTabs(stage) {
  const split = stage.querySelector("#split");
  const mark = () => {
    const second = split.scrollLeft > split.clientWidth / 2;
    stage.dataset.side = second ? "second" : "first";
    stage.querySelectorAll(".panetabs a").forEach((tab, index) => {
      if (index === Number(second)) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    });
  };
  stage.addEventListener("click", (event) => {
    const tab = event.target.closest(".panetabs a");
    if (!tab) return;
    event.preventDefault();
    const pane = split.querySelector(tab.getAttribute("href"));
    split.scrollTo({ left: pane.offsetLeft - split.offsetLeft, behavior: "instant" });
    mark();
  });
  // The strip scrolls sideways, so it must be focusable by keyboard even while the answers are disabled.
  const narrow = matchMedia("(max-width: 700px)");
  const reach = () => { if (narrow.matches) split.tabIndex = 0; else split.removeAttribute("tabindex"); };
  narrow.addEventListener("change", reach);
  reach();
  split.addEventListener("scroll", mark, { passive: true });
  mark();
  return mark;
}
