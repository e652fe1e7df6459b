// On a phone the two pages are a horizontal strip: tabs follow swipes, and tab clicks add no history entries.
// A dot marks the page of this question that has not been on the screen yet.
export function wireTabs(stage, activate) {
  const split = stage.querySelector("#split");
  const entry = document.getElementById("answers").elements;
  let seen = [];
  const mark = () => {
    const second = split.scrollLeft > split.clientWidth / 2;
    stage.dataset.side = second ? "second" : "first";
    const items = ["left", "right"].map((side) => entry[side].value);
    seen = items.filter((item, index) => seen.includes(item) || index === Number(second));
    stage.querySelectorAll(".panetabs a").forEach((tab, index) => {
      if (index === Number(second)) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
      tab.toggleAttribute("data-unseen", !seen.includes(items[index]));
    });
  };
  const show = (pane) => {
    if (narrow.matches) split.scrollTo({ left: pane.offsetLeft - split.offsetLeft, behavior: "instant" });
    mark();
  };
  stage.addEventListener("click", (event) => {
    const tab = event.target.closest(".panetabs a");
    if (!tab) return;
    event.preventDefault();
    const pane = split.querySelector(tab.getAttribute("href"));
    show(pane);
    activate(pane);
  });
  // The strip scrolls sideways, so it must be focusable by keyboard even while the answers are disabled.
  const narrow = matchMedia("(max-width: 700px)");
  const reach = () => { if (narrow.matches) split.tabIndex = 0; else split.removeAttribute("tabindex"); };
  narrow.addEventListener("change", reach);
  reach();
  // After a swipe the page on the screen is the active one.
  const swiped = () => {
    mark();
    if (narrow.matches) activate(split.querySelectorAll(".pane")[stage.dataset.side === "second" ? 1 : 0]);
  };
  split.addEventListener("scroll", (event) => { if (event.target === split) swiped(); }, { passive: true });
  mark();
  return { mark: () => { if (narrow.matches) mark(); }, show }; // measuring costs a layout; wide screens show no tabs
}
