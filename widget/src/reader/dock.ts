// Where to ask: beside the text where there is room, else behind a button in the corner.

const beside = matchMedia("(min-width: 60rem)");

/** Put the widget where it fits, now and whenever the window changes. */
export function dockWidget(): void {
  const panel = document.getElementById("_ask");
  const widget = panel?.querySelector("bythebook-ask");
  if (!panel || !widget) return;
  const dock = (): void => {
    if ((widget.parentElement === panel) === beside.matches && widget.hasAttribute("mode")) return;
    widget.setAttribute("mode", beside.matches ? "inline" : "floating");
    panel.hidden = !beside.matches;
    (beside.matches ? panel : document.body).append(widget);
  };
  dock();
  beside.addEventListener("change", dock);
}
