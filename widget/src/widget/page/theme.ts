// Light or dark as the page is, whatever the reader's system prefers; and an accent that stays readable on both.

export type Theme = "light" | "dark";
type Channels = readonly [red: number, green: number, blue: number];

const NAMES = ["data-theme", "data-color-mode", "data-bs-theme", "data-color-scheme", "theme"]; // by which sites say it
const SETTLED_MS = 400; // until a page that changes its colours by a transition has done so
const LEAST_CONTRAST = 4.5;
const PAPERS: Record<Theme, Channels> = { light: [245, 242, 234], dark: [35, 33, 29] }; // the raised ones of the style sheet
const system = matchMedia("(prefers-color-scheme: dark)");

/** Find the theme: what the element says, then what the page says, then what it paints. */
export function themeOf(element: Element): Theme {
  const theme = named(element.getAttribute("theme"));
  if (theme) return theme;
  const roots = [document.documentElement, document.body];
  for (const root of roots)
    for (const name of NAMES) {
      const theme = named(root.getAttribute(name));
      if (theme) return theme;
    }
  for (const root of roots.reverse()) {
    const painted = channelsOf(getComputedStyle(root).backgroundColor);
    if (painted) return lightness(painted) < 0.2 ? "dark" : "light";
  }
  const ink = channelsOf(getComputedStyle(document.body).color); // of a page that paints no paper of its own
  return ink && lightness(ink) > 0.4 ? "dark" : "light";
}

/** Call back when the page's theme may have changed. */
export function watchTheme(changed: () => void, signal: AbortSignal): void {
  let timer = 0;
  const look = (): void => {
    changed();
    clearTimeout(timer);
    timer = window.setTimeout(changed, SETTLED_MS);
  };
  const observer = new MutationObserver(look);
  for (const root of [document.documentElement, document.body]) observer.observe(root, { attributes: true });
  system.addEventListener("change", look, { signal });
  signal.addEventListener("abort", () => {
    observer.disconnect();
    clearTimeout(timer);
  });
}

/** Give an accent that can be read on paper of a theme: as it is given, or darker or lighter; null if it is no colour. */
export function accentFor(given: string, theme: Theme): string | null {
  const colour = CSS.supports("color", given) ? channelsOf(given) : null;
  if (!colour) return null;
  const towards = theme === "dark" ? 255 : 0;
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed = colour.map((one) => Math.round(one + (towards - one) * share)) as unknown as Channels;
    if (contrast(mixed, PAPERS[theme]) >= LEAST_CONTRAST) return `rgb(${mixed.join(" ")})`;
  }
  return null;
}

function named(value: string | null): Theme | null {
  return value === "light" || value === "dark" ? value : null;
}

/** Have the browser read a colour, in whatever form; null where it is not opaque. */
function channelsOf(colour: string): Channels | null {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const paper = canvas.getContext("2d", { willReadFrequently: true });
  if (!paper) return null;
  paper.fillStyle = colour;
  paper.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = paper.getImageData(0, 0, 1, 1).data;
  return alpha > 250 ? [red, green, blue] : null;
}

function lightness([red, green, blue]: Channels): number {
  const [r, g, b] = [red, green, blue].map((one) => one / 255).map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

function contrast(one: Channels, other: Channels): number {
  const [low = 0, high = 0] = [lightness(one), lightness(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
