// The first view: this week against last, each day, and what the book did not answer; then the rest.

import { bars, lines, meter } from "./charts";
import { bookLink, type Child, h } from "./dom";
import { ingestPart } from "./ingests";
import { type Part, panel, table } from "./panel";
import { type Filters, ofKind, period, questions, to } from "./places";
import { read } from "./service";
import type { Cited, Day, Group, Latency, Overview, Scores, Sums, Unanswered, Week } from "./types";
import { change, count, day, duration, fullDay, type Kind, KINDS, kindName, moment, place, plural, score, shares } from "./words";

export type Base = Pick<Part<unknown>, "live" | "first" | "locked">;
const GROUPS_FIRST = 6;

export function overviewView(filters: Filters, base: Base, found: (overview: Overview) => void): HTMLElement {
  const load = async (signal: AbortSignal) => {
    const overview = await read<Overview>("overview", period(filters), signal);
    found(overview);
    return overview;
  };
  const shared = load(base.live ?? new AbortController().signal);
  shared.catch(() => undefined); // each panel tells of it
  const once = () => {
    let isFirst = true; // trying again asks again
    return (signal: AbortSignal) => {
      const answer = isFirst ? shared : load(signal);
      isFirst = false;
      return answer;
    };
  };
  // One call finds out whether the key opens; the others wait for it.
  const after: Base = { ...base, first: shared.then(() => undefined, () => undefined) };
  return h(
    "div",
    { class: "overview" },
    h("div", { class: "first" }, h("div", { class: "left" }, weeksPanel(filters, base, once()), daysPanel(filters, base, once())), gapsPanel(filters, after)),
    h("div", { class: "rest" }, citedPanel(filters, after), scoresPanel(filters, after), latencyPanel(filters, after), panel(ingestPart(after))),
  );
}

// Weeks

function weeksPanel(filters: Filters, base: Base, load: (signal: AbortSignal) => Promise<Overview>): HTMLElement {
  return panel<Overview>({
    ...base,
    id: "weeks",
    title: "These seven days against the seven before",
    waiting: "Counting this week’s questions…",
    load,
    show: ({ this_week, last_week }) => ({ plot: weeks(this_week, last_week, filters) }),
  });
}

function weeks(now: Week, before: Week, filters: Filters): HTMLElement {
  const link = (week: Week, more: Filters, words: string, description: string): HTMLElement =>
    h("a", { href: questions(filters, { since: week.since, until: week.until, ...more }), "aria-label": description }, words);
  const cell = (name: string, write: (week: Week) => string, gist: string, more: Filters): HTMLElement =>
    h(
      "div",
      { class: "sum" },
      h("dt", {}, name),
      h("dd", { class: "big" }, link(now, more, write(now), `${name}, these seven days: ${write(now)}`)),
      h("dd", {}, gist, h("span", { class: "before" }, "before: ", link(before, more, write(before), `${name}, the seven days before: ${write(before)}`))),
    );
  const outcomes = (week: Week) => shares([week.answered, week.refused, week.failed]);
  const ofAll = (part: number) => `${count(part)} of ${count(now.questions)}`;
  return h(
    "dl",
    { class: "sums" },
    cell("Questions", (week) => count(week.questions), change(now.questions, before.questions), {}),
    cell("Answered", (week) => outcomes(week)[0] ?? "", ofAll(now.answered), { status: "success" }),
    cell("Refused", (week) => outcomes(week)[1] ?? "", ofAll(now.refused), { status: "refused" }),
    h(
      "div",
      { class: "sum" },
      h("dt", {}, "Readers said"),
      h("dd", { class: "big two" }, link(now, { helpful: "yes" }, count(now.helpful), `${count(now.helpful)} found it helpful, these seven days`), h("small", {}, " helped ")),
      h("dd", {}, link(now, { helpful: "no" }, `${count(now.not_helpful)} did not`, `${count(now.not_helpful)} did not find it helpful, these seven days`)),
    ),
  );
}

// Days

function daysPanel(filters: Filters, base: Base, load: (signal: AbortSignal) => Promise<Overview>): HTMLElement {
  return panel<Overview>({
    ...base,
    id: "days",
    title: "Questions by day",
    waiting: "Counting each day’s questions…",
    load,
    csv: { table: "days", filters: period(filters) },
    show: (overview) => (overview.sums.questions ? { plot: daysPlot(overview, filters), table: daysTable(overview, filters) } : { plot: nobodyAsked(overview) }),
  });
}

const counted = (sums: Sums, kind: Kind): number =>
  kind === "answered" ? sums.answered : kind === "failed" ? sums.failed : sums.refusals[kind];

function daysPlot({ days, sums }: Overview, filters: Filters): HTMLElement {
  const kinds = KINDS.filter((kind) => counted(sums, kind));
  const describe = (one: Day) =>
    `${fullDay(one.day)}: ${plural(one.questions, "question")}${kinds.map((kind) => `, ${kindName(kind).toLowerCase()} ${count(counted(one, kind))}`).join("")}`;
  const plot = bars(
    `Questions by day, ${plural(days.length, "day")}. Arrow keys go from day to day.`,
    days.map((one) => ({
      label: day(one.day),
      description: describe(one),
      href: questions(filters, { since: one.day, until: one.day }),
      segments: kinds.map((kind) => ({ name: kind, value: counted(one, kind) })),
    })),
    { height: 150, tallHeight: 235 },
  );
  const parts = shares(kinds.map((kind) => counted(sums, kind)));
  const keys = kinds.map((kind, place) =>
    h(
      "li",
      {},
      h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }),
      `${kindName(kind)} `,
      h("a", { href: questions(filters, ofKind(kind)), "aria-label": `${parts[place]} ${kindName(kind)}: ${plural(counted(sums, kind), "question")}` }, parts[place]),
    ),
  );
  return h("div", {}, plot, h("ul", { class: "keys" }, ...keys));
}

function daysTable({ days, sums }: Overview, filters: Filters): HTMLElement {
  const kinds = KINDS.filter((kind) => counted(sums, kind));
  const rows = [...days]
    .reverse()
    .filter((one) => one.questions)
    .map((one) => {
      const cell = (value: number, more: Filters): Child =>
        value ? h("a", { href: questions(filters, { since: one.day, until: one.day, ...more }) }, count(value)) : "0";
      return [day(one.day), cell(one.questions, {}), ...kinds.map((kind) => cell(counted(one, kind), ofKind(kind)))];
    });
  return table("Questions by day", ["Day", "All", ...kinds.map(kindName)], rows);
}

function nobodyAsked({ period: days }: Overview): HTMLElement {
  return h(
    "div",
    { class: "empty" },
    h("p", {}, h("strong", {}, `Nobody asked anything from ${fullDay(days.since)} to ${fullDay(days.until)}.`)),
    h("p", {}, "Put the widget into your pages with one script tag, ", h("a", { href: "/" }, "ask a question yourself"), ", or choose more days above."),
  );
}

// What the book did not answer

function gapsPanel(filters: Filters, base: Base): HTMLElement {
  return panel<Unanswered>({
    ...base,
    id: "unanswered",
    title: "What readers asked and the book did not answer",
    waiting: "Grouping what was not answered…",
    load: (signal) => read<Unanswered>("unanswered", { ...period(filters), most: "100" }, signal),
    csv: { table: "unanswered", filters: period(filters) },
    show: (found) => (found.groups.length ? { plot: gaps(found, filters), table: gapsTable(found, filters) } : { plot: noGaps() }),
  });
}

function gaps(found: Unanswered, filters: Filters): HTMLElement {
  const list = h("ol", { class: "gaps" }, ...found.groups.slice(0, GROUPS_FIRST).map((group) => gap(group, filters)));
  const left = found.groups.slice(GROUPS_FIRST);
  const sum = h(
    "p",
    { class: "note" },
    h("a", { href: questions(filters, { status: "refused", mode: "standard_rag" }) }, plural(found.questions, "question")),
    ` in ${plural(found.group_count, "group")}`,
  );
  if (!left.length) return h("div", {}, list, sum);
  const more = h("button", { type: "button" }, `Show ${plural(left.length, "more", "more")}`);
  more.addEventListener("click", () => {
    const added = left.map((group) => gap(group, filters));
    list.append(...added);
    more.remove();
    added[0]?.querySelector("a")?.focus();
  });
  return h("div", {}, list, h("div", { class: "row" }, more, sum));
}

function gap(group: Group, filters: Filters): HTMLElement {
  const { nearest } = group;
  return h(
    "li",
    {},
    h("a", { class: "count", href: questions(filters, { like: group.query_id }), "aria-label": `${count(group.times)}×: show each time it was asked` }, `${count(group.times)}×`),
    h(
      "div",
      {},
      h("a", { class: "asked", href: to(`question/${group.query_id}`, period(filters)), dir: "auto" }, group.question),
      h(
        "p",
        { class: "note" },
        nearest ? "nearest: " : "nothing near",
        nearest ? bookLink(nearest.url, place(nearest.chapter, nearest.section)) : null,
        ` · last ${day(group.last_asked)}`,
        group.wordings.length > 1 ? ` · ${count(group.wordings.length)}\u00a0wordings` : null,
      ),
    ),
  );
}

function gapsTable(found: Unanswered, filters: Filters): HTMLElement {
  return table(
    "What readers asked and the book did not answer",
    ["Question", "Asked", "Last (UTC)", "Nearest section"],
    found.groups.map((group) => [
      h("a", { href: to(`question/${group.query_id}`, period(filters)), dir: "auto" }, group.question),
      h("a", { href: questions(filters, { like: group.query_id }) }, count(group.times)),
      moment(group.last_asked),
      group.nearest ? bookLink(group.nearest.url, place(group.nearest.chapter, group.nearest.section)) : "–",
    ]),
  );
}

function noGaps(): HTMLElement {
  return h("div", { class: "empty" }, h("p", {}, h("strong", {}, "No question went unanswered in these days.")), h("p", {}, "What the book does not answer will be listed here, the most asked first."));
}

// Chapters

function citedPanel(filters: Filters, base: Base): HTMLElement {
  return panel<Cited>({
    ...base,
    id: "cited",
    title: "Most quoted chapters",
    note: "Answers that quote the chapter; one answer may quote several.",
    waiting: "Counting quotes…",
    load: (signal) => read<Cited>("cited", period(filters), signal),
    csv: { table: "cited", filters: period(filters) },
    show: (cited) => (cited.chapters.length ? { plot: citedPlot(cited, filters), table: citedTable(cited, filters) } : { plot: nothing("No answer was given in these days, so nothing was quoted.") }),
  });
}

function citedPlot({ chapters }: Cited, filters: Filters): HTMLElement {
  const most = chapters[0]?.answers ?? 0;
  return h(
    "ul",
    { class: "chapters" },
    ...chapters.slice(0, 12).map((one) => {
      const link = (section: string | null, answers: number): HTMLElement =>
        h("a", { href: questions(filters, { chapter: one.chapter, ...(section === null ? {} : { section }) }), "aria-label": `${place(one.chapter, section ?? "")}: ${plural(answers, "answer")}` }, count(answers));
      return h(
        "li",
        {},
        h(
          "details",
          {},
          h("summary", {}, h("span", { dir: "auto" }, one.chapter), meter(one.answers, most)),
          h("ul", {}, ...one.sections.map((part) => h("li", {}, h("span", { dir: "auto" }, part.section), " ", link(part.section, part.answers)))),
        ),
        link(null, one.answers),
      );
    }),
  );
}

function citedTable({ chapters }: Cited, filters: Filters): HTMLElement {
  return table(
    "Most quoted chapters and sections",
    ["Chapter", "Section", "Answers"],
    chapters.flatMap((one) => [
      [one.chapter, "all", h("a", { href: questions(filters, { chapter: one.chapter }) }, count(one.answers))],
      ...one.sections.map((part) => [one.chapter, part.section, h("a", { href: questions(filters, { chapter: one.chapter, section: part.section }) }, count(part.answers))]),
    ]),
  );
}

// Scores

function scoresPanel(filters: Filters, base: Base): HTMLElement {
  return panel<Scores>({
    ...base,
    id: "scores",
    title: "Where scores lie against the boundary",
    note: "The best passage of each question. Many refused just right of the line: the book is near, but does not say it.",
    waiting: "Sorting scores…",
    load: (signal) => read<Scores>("scores", period(filters), signal),
    csv: { table: "scores", filters: period(filters) },
    show: (scores) => (scores.bins.some((bin) => bin.answered + bin.refused) ? { plot: scoresPlot(scores, filters), table: scoresTable(scores, filters) } : { plot: nothing("No question has a score in these days.") }),
  });
}

function within(bin: { score_from: number; score_to: number }): Filters {
  const range: Record<string, string> = { score_from: String(bin.score_from), mode: "standard_rag" };
  if (bin.score_to < 1) range["score_to"] = String(bin.score_to); // the last part includes 1
  return range;
}

function scoresPlot({ bins, boundary, refuse_below }: Scores, filters: Filters): HTMLElement {
  const plot = bars(
    `Questions by score, boundary at ${score(boundary)}. Arrow keys go from bar to bar.`,
    bins.map((bin) => ({
      label: score(bin.score_from),
      description: `Score ${score(bin.score_from)} to ${score(bin.score_to)}: ${count(bin.answered)} answered, ${count(bin.refused)} refused`,
      href: questions(filters, within(bin)),
      segments: [
        { name: "answered", value: bin.answered },
        { name: "low_relevance", value: bin.refused },
      ],
    })),
    {
      height: 200,
      isScale: true,
      rules: [
        { at: refuse_below * bins.length, label: "", name: "unread" },
        { at: boundary * bins.length, label: `boundary ${score(boundary)}`, name: "boundary" },
      ],
    },
  );
  const key = (name: string, words: string) => h("li", {}, h("span", { class: `swatch ${name}`, "aria-hidden": "true" }), words);
  return h(
    "div",
    {},
    plot,
    h("ul", { class: "keys" }, key("answered", "Answered"), key("low_relevance", "Refused"), h("li", { class: "note" }, `dashed: refused unread below ${score(refuse_below)}`)),
  );
}

function scoresTable({ bins }: Scores, filters: Filters): HTMLElement {
  const link = (value: number, more: Filters): Child => (value ? h("a", { href: questions(filters, more) }, count(value)) : "0");
  return table(
    "Questions by score",
    ["Score", "Answered", "Refused"],
    bins.map((bin) => [
      `${score(bin.score_from)} – ${score(bin.score_to)}`,
      link(bin.answered, { ...within(bin), status: "success" }),
      link(bin.refused, { ...within(bin), status: "refused" }),
    ]),
  );
}

// Latency

function latencyPanel(filters: Filters, base: Base): HTMLElement {
  return panel<Latency>({
    ...base,
    id: "latency",
    title: "How long answers took",
    waiting: "Sorting times…",
    load: (signal) => read<Latency>("latency", period(filters), signal),
    csv: { table: "latency", filters: period(filters) },
    show: (latency) => (latency.days.length ? { plot: latencyPlot(latency, filters), table: latencyTable(latency, filters) } : { plot: nothing("No question was asked in these days.") }),
  });
}

const SHARES = [
  ["p50", "half within"],
  ["p90", "90 % within"],
  ["p99", "99 % within"],
] as const;

function latencyPlot({ days }: Latency, filters: Filters): HTMLElement {
  const plot = lines(
    "Processing time by day. Arrow keys go from point to point.",
    days.map((one) => day(one.day)),
    SHARES.map(([name, label]) => ({
      name,
      label,
      points: days.map((one, x) => ({
        x,
        y: one[name],
        description: `${fullDay(one.day)}: ${label} ${duration(one[name])}`,
        href: questions(filters, { since: one.day, until: one.day, took_from: String(one[name]) }),
      })),
    })),
    200,
    duration,
  );
  return h("div", {}, plot, h("ul", { class: "keys" }, ...SHARES.map(([name, label]) => h("li", {}, h("span", { class: `swatch ${name}`, "aria-hidden": "true" }), label))));
}

function latencyTable({ days }: Latency, filters: Filters): HTMLElement {
  return table(
    "Processing time by day",
    ["Day", "Questions", "Half within", "90 % within", "99 % within"],
    [...days].reverse().map((one) => [
      day(one.day),
      h("a", { href: questions(filters, { since: one.day, until: one.day }) }, count(one.questions)),
      ...SHARES.map(([name]) => h("a", { href: questions(filters, { since: one.day, until: one.day, took_from: String(one[name]) }) }, duration(one[name]))),
    ]),
  );
}

function nothing(words: string): HTMLElement {
  return h("p", { class: "empty" }, words);
}
