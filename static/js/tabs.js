// On a phone the two pages are a strip: tabs and swipes keep in step, and Back is not filled with them.
export function wireTabs(stage) {
  const split = stage.querySelector("#split");
  const mark = () => {
    const second = split.scrollLeft > split.clientWidth / 2;
    stage.dataset.side = second ? "second" : "first";
    stage.querySelectorAll(".panetabs a").forEach((tab, place) => {
      if (place === Number(second)) tab.setAttribute("aria-current", "true");
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
  // As a strip the pages scroll sideways, so keys must be able to reach it even while answers wait.
  const narrow = matchMedia("(max-width: 700px)");
  const reach = () => { if (narrow.matches) split.tabIndex = 0; else split.removeAttribute("tabindex"); };
  narrow.addEventListener("change", reach);
  reach();
  split.addEventListener("scroll", mark, { passive: true });
  mark();
  return mark;
}
