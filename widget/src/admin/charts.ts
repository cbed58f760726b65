// Plots as SVG: drawn at the width they have, every bar and point a link to the questions behind it.

import { h, svg } from "./dom";

export interface Segment {
  readonly name: string; // of the class that colours it
  readonly value: number;
}
export interface Bar {
  readonly label: string; // below the axis
  readonly description: string; // what it says, in words
  readonly href: string;
  readonly segments: readonly Segment[];
}
export interface Look {
  readonly height: number;
  readonly tallHeight?: number; // where there is room next to other panels
  readonly rules?: readonly Rule[];
  readonly isScale?: boolean; // labels then stand at the edges of bars, not below their middle
}
export interface Rule {
  readonly at: number; // in bars
  readonly label: string;
  readonly name: string;
}
export interface Line {
  readonly name: string;
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number; readonly description: string; readonly href: string }[];
}

type Draw = (width: number) => SVGElement;
const LEAST_LEFT = 40;
const CHARACTER = 7; // pixels, at the most, of a label at 11 px
const GAP = 6; // between a label and its line
const BOTTOM = 22;
const TOP = 8;
const WIDE = matchMedia("(min-width: 64rem)");
const STEPS = [1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** Draw again whenever the room changes. */
export function fitted(draw: Draw): HTMLElement {
  const box = h("div", { class: "plot" });
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0 && width !== drawn) {
      drawn = width;
      box.replaceChildren(draw(width));
    }
  }).observe(box);
  return box;
}

export function bars(description: string, given: readonly Bar[], look: Look): HTMLElement {
  const { rules = [], isScale = false } = look;
  return fitted((width) => {
    const height = WIDE.matches ? (look.tallHeight ?? look.height) : look.height;
    const top = rules.length ? TOP + 18 : TOP;
    const most = niceMost(Math.max(...given.map(total), 1));
    const room = height - top - BOTTOM;
    const ticks = ticksUpTo(most, String);
    const left = roomFor(ticks);
    const step = (width - left) / Math.max(given.length, 1);
    const y = (value: number) => top + room * (1 - value / most);
    const labelled = Math.ceil(given.length / Math.max(Math.floor((width - left) / 64), 1));
    const links = given.map((bar, place) => column(bar, left + place * step, step, y));
    return frame(description, width, height, [
      ...axis(ticks, left, width, y),
      ...given.flatMap((bar, place) =>
        place % labelled === 0 ? [xLabel(left + (isScale ? place : place + 0.5) * step, height, bar.label)] : [],
      ),
      ...rules.flatMap((rule) => ruled(rule, left + rule.at * step, top, height - BOTTOM)),
      roving(links),
    ]);
  });
}

export function lines(description: string, labels: readonly string[], given: readonly Line[], height: number, unit: (value: number) => string): HTMLElement {
  return fitted((width) => {
    const most = niceMost(Math.max(...given.flatMap((line) => line.points.map((point) => point.y)), 1));
    const ticks = ticksUpTo(most, unit);
    const left = roomFor(ticks);
    const step = (width - left) / Math.max(labels.length, 1);
    const x = (place: number) => left + (place + 0.5) * step;
    const y = (value: number) => TOP + (height - TOP - BOTTOM) * (1 - value / most);
    const labelled = Math.ceil(labels.length / Math.max(Math.floor((width - left) / 64), 1));
    const links = given.flatMap((line) =>
      line.points.map((point) =>
        svg(
          "a",
          { href: point.href, "aria-label": point.description, tabindex: -1 },
          svg("circle", { cx: x(point.x), cy: y(point.y), r: 9, class: "reach" }),
          svg("circle", { cx: x(point.x), cy: y(point.y), r: 3, class: `dot ${line.name}` }),
          svg("title", {}, point.description),
        ),
      ),
    );
    return frame(description, width, height, [
      ...axis(ticks, left, width, y),
      ...labels.flatMap((label, place) => (place % labelled === 0 ? [xLabel(x(place), height, label)] : [])),
      ...given.map((line) =>
        svg("polyline", { class: `line ${line.name}`, points: line.points.map((one) => `${x(one.x)},${y(one.y)}`).join(" ") }),
      ),
      roving(links),
    ]);
  });
}

/** A bar next to a name, as long as its share of the longest. */
export function meter(part: number, whole: number, name = "answered"): SVGElement {
  const width = whole ? Math.max((100 * part) / whole, part ? 0.5 : 0) : 0;
  return svg(
    "svg",
    { class: "meter", "aria-hidden": "true", width: "100%", height: 10, preserveAspectRatio: "none" },
    svg("rect", { class: "rail", width: "100%", height: 10, rx: 2 }),
    svg("rect", { class: name, width: `${width}%`, height: 10, rx: 2 }),
  );
}

function frame(description: string, width: number, height: number, parts: readonly SVGElement[]): SVGElement {
  return svg("svg", { role: "group", "aria-label": description, width, height, viewBox: `0 0 ${width} ${height}` }, ...parts);
}

interface Tick {
  readonly value: number;
  readonly label: string;
}

function ticksUpTo(most: number, unit: (value: number) => string): Tick[] {
  return [0, most / 2, most].filter(Number.isInteger).map((value) => ({ value, label: unit(value) }));
}

/** Where the lines begin, so that the longest label before them is not cut. */
function roomFor(ticks: readonly Tick[]): number {
  return Math.max(LEAST_LEFT, ...ticks.map(({ label }) => label.length * CHARACTER + GAP));
}

function axis(ticks: readonly Tick[], left: number, width: number, y: (value: number) => number): SVGElement[] {
  return ticks.flatMap(({ value, label }) => [
    svg("line", { class: "grid", x1: left, x2: width, y1: y(value), y2: y(value) }),
    svg("text", { class: "tick end", x: left - GAP, y: y(value) + 4, "aria-hidden": "true" }, label),
  ]);
}

function xLabel(x: number, height: number, label: string): SVGElement {
  return svg("text", { class: "tick middle", x, y: height - 6, "aria-hidden": "true" }, label);
}

function ruled(rule: Rule, x: number, top: number, bottom: number): SVGElement[] {
  return [
    svg("line", { class: `rule ${rule.name}`, x1: x, x2: x, y1: top - 4, y2: bottom }),
    svg("text", { class: `tick ${rule.name}`, x, y: top - 10 }, rule.label),
  ];
}

function column(bar: Bar, left: number, step: number, y: (value: number) => number): SVGAElement {
  const gap = Math.min(step * 0.2, 4);
  let sum = 0;
  const parts = bar.segments.flatMap((segment) => {
    if (!segment.value) return [];
    const from = y(sum);
    sum += segment.value;
    const height = Math.max(from - y(sum) - 0.5, 0.5);
    return [svg("rect", { class: segment.name, x: left + gap / 2, y: y(sum), width: Math.max(step - gap, 1), height })];
  });
  const reach = svg("rect", { class: "reach", x: left, y: y(sum) < 24 ? 0 : TOP, width: step, height: Math.max(y(0) - TOP, 0) });
  return svg("a", { href: bar.href, "aria-label": bar.description, tabindex: -1 }, reach, ...parts, svg("title", {}, bar.description));
}

/** One stop for the Tab key; arrows, Home and End go from link to link. */
function roving(links: readonly SVGAElement[]): SVGElement {
  links.at(-1)?.setAttribute("tabindex", "0");
  const go = (event: Event) => {
    if (!(event instanceof KeyboardEvent)) return;
    const at = links.indexOf(document.activeElement as SVGAElement);
    const goals: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: links.length - 1 };
    const goal = links[goals[event.key] ?? -1];
    if (at < 0 || !goal) return;
    event.preventDefault();
    links[at]?.setAttribute("tabindex", "-1");
    goal.setAttribute("tabindex", "0");
    goal.focus();
  };
  return svg("g", { keydown: go }, ...links);
}

function total(bar: Bar): number {
  return bar.segments.reduce((sum, segment) => sum + segment.value, 0);
}

/** A round number that is not exceeded, as close as may be; half of it is whole too. */
export function niceMost(value: number): number {
  for (let power = 1; ; power *= 10) {
    const fitting = STEPS.map((step) => Math.round(step * power)).find((most) => most >= value && most % 2 === 0);
    if (fitting !== undefined) return fitting;
  }
}
