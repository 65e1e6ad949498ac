/** What `ui-calendar` reads out of Lua tables, how entries are moved, and where overlapping ones stand; pure. */
import { plainText } from "../base";
import { addDays, daysBetween, isDate } from "../dates";
import type { Item } from "../items";

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?/;
const DAY = 1440;
/** How long an entry with a time takes that does not say so, in minutes. */
const USUAL = 60;
/** Entries that are shorter are drawn as if they took this long, so that their text can be read. */
const LEAST = 25;

export interface Entry {
  readonly item: Item;
  readonly day: string;
  readonly last: string;
  /** Minutes of the first day, or null if the entry has no time. */
  readonly from: number | null;
  /** Minutes of the last day. */
  readonly until: number;
  /** The time as it is shown: `09:00`, or `09:00–10:30` if the entry says when it ends. */
  readonly time: string;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

function minutesOf(text: string): number | null {
  const found = /^(\d\d):(\d\d)/.exec(text);
  const minutes = found ? Number(found[1]) * 60 + Number(found[2]) : DAY + 1;
  return minutes > DAY ? null : minutes;
}

export function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** Read a table whose date is in this field; null if there is none. */
export function read(item: Item, field: string): Entry | null {
  const [, day = "", own = ""] = MOMENT.exec(plainText(item[field])) ?? [];
  if (!isDate(day)) {
    return null;
  }
  const from = minutesOf(own || plainText(item["time"]));
  const end = endOf(plainText(item["to"]), day, from);
  const without = { last: day, until: from === null ? DAY : Math.min(from + USUAL, DAY) };
  const time = from === null ? "" : clock(from) + (end?.timed === true && end.last === day ? `–${clock(end.until)}` : "");
  return { item, day, from, last: (end ?? without).last, until: (end ?? without).until, time };
}

/** The last day and minute that `to` names; null if it names none after the beginning. */
function endOf(to: string, day: string, from: number | null): { last: string; until: number; timed: boolean } | null {
  const [, date = "", time = ""] = MOMENT.exec(to) ?? [];
  const until = minutesOf(date === "" ? to : time);
  if (date === "") {
    const next = until !== null && from !== null && until < from;
    return until === null || from === null || until === from ? null : endOf(`${next ? addDays(day, 1) : day}T${clock(until)}`, day, from);
  }
  if (until === 0 && isDate(date) && date > day) {
    return endOf(`${addDays(date, -1)}T24:00`, day, from);
  }
  const late = isDate(date) && (date > day || (date === day && until !== null && until > (from ?? DAY)));
  return late ? { last: date, until: from === null ? DAY : (until ?? DAY), timed: until !== null } : null;
}

/** Whether an entry stands above the hours: it has no time, or takes a day or more. */
export function isWhole({ day, last, from, until }: Entry): boolean {
  return from === null || daysBetween(day, last) * DAY + until - from >= DAY;
}

export function isOn({ day, last }: Entry, date: string): boolean {
  return day <= date && date <= last;
}

/** The minutes of a day that an entry takes. */
export function spanOn(entry: Entry, date: string): Span {
  const start = Math.min(date === entry.day ? (entry.from ?? 0) : 0, DAY - LEAST);
  return { start, end: Math.max(date === entry.last ? entry.until : DAY, start + LEAST) };
}

export function inOrder(a: Entry, b: Entry): number {
  return (a.from ?? -1) - (b.from ?? -1) || a.day.localeCompare(b.day);
}

export interface Place {
  /** The column, of how many, and over how many of them it is wide. */
  readonly column: number;
  readonly of: number;
  readonly wide: number;
}

/** Put spans that overlap beside each other, and widen those that have room to their right. */
export function sideBySide<T extends Span>(spans: readonly T[]): (T & Place)[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const groups: T[][] = [];
  let until = -1;
  for (const span of sorted) {
    if (span.start >= until) {
      groups.push([]);
    }
    groups.at(-1)?.push(span);
    until = Math.max(until, span.end);
  }
  return groups.flatMap(placed);
}

function placed<T extends Span>(group: readonly T[]): (T & Place)[] {
  const columns: T[][] = [];
  const first = group.map((span) => {
    const free = columns.findIndex((column) => column.every((other) => !overlap(span, other)));
    const column = free < 0 ? columns.length : free;
    (columns[column] ??= []).push(span);
    return { span, column };
  });
  return first.map(({ span, column }) => {
    const blocked = columns.findIndex((others, at) => at > column && others.some((other) => overlap(span, other)));
    return { ...span, column, of: columns.length, wide: (blocked < 0 ? columns.length : blocked) - column };
  });
}

function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}

/** The line of each entry of whole days above the hours, so that none covers another. */
export function lanes(entries: readonly Entry[], days: readonly string[]): { entry: Entry; lane: number; first: number; length: number }[] {
  const taken: string[] = [];
  const [begin = "", end = ""] = [days[0], days.at(-1)];
  const sorted = [...entries].sort((a, b) => a.day.localeCompare(b.day) || b.last.localeCompare(a.last));
  return sorted.map((entry) => {
    const free = taken.findIndex((last) => last < entry.day);
    const lane = free < 0 ? taken.length : free;
    taken[lane] = entry.last;
    const [from, to] = [entry.day < begin ? begin : entry.day, entry.last > end ? end : entry.last];
    return { entry, lane, first: days.indexOf(from), length: daysBetween(from, to) + 1 };
  });
}

/** The fields of an entry that is moved by days and minutes, within its day. */
export function shifted(entry: Entry, field: string, days: number, minutes: number): Record<string, string> {
  const { item, day, from } = entry;
  const [date, to] = [plainText(item[field]), plainText(item["to"])];
  const onlyTime = MOMENT.exec(to) === null && minutesOf(to) !== null && entry.last === day;
  const most = onlyTime ? DAY - 1 - entry.until : DAY - 15 - (from ?? 0);
  const by = from === null ? 0 : Math.min(Math.max(minutes, -from), Math.max(most, 0));
  const timed = MOMENT.exec(date)?.[2] !== undefined;
  return {
    [field]: later(date, days, timed ? by : 0),
    ...(from !== null && !timed ? { time: clock(from + by) } : {}),
    ...(onlyTime ? { to: clock(entry.until + by) } : MOMENT.test(to) ? { to: later(to, days, by) } : {}),
  };
}

/** A moment by so many days and minutes later, written as it was. */
function later(text: string, days: number, minutes: number): string {
  const [whole = "", date = "", time] = MOMENT.exec(text) ?? [];
  if (time === undefined) {
    return addDays(date, days) + text.slice(10);
  }
  const moved = (minutesOf(time) ?? 0) + minutes;
  return addDays(date, days + Math.floor(moved / DAY)) + whole.slice(10, 11) + clock(((moved % DAY) + DAY) % DAY) + text.slice(whole.length);
}
