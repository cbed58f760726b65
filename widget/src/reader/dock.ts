// Where to ask: next to the text where there is room, else behind a button in the corner.

const wide = matchMedia("(min-width: 60rem)");

/** Put the widget where it fits, now and whenever the window changes. */
export function dockWidget(): void {
  const panel = document.getElementById("_ask");
  const widget = panel?.querySelector("bythebook-ask");
  if (!panel || !widget) return;
  const dock = (): void => {
    if ((widget.parentElement === panel) === wide.matches && widget.hasAttribute("mode")) return;
    widget.setAttribute("mode", wide.matches ? "inline" : "floating");
    panel.hidden = !wide.matches;
    (wide.matches ? panel : document.body).append(widget);
  };
  dock();
  wide.addEventListener("change", dock);
}
