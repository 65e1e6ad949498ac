/** Dates as `YYYY-MM-DD` and what people write for them; pure. All arithmetic is in UTC, so no day has 23 hours. */

const DAY = 86_400_000;

export function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return found !== null && format(at(text)) === text;
}

function at(date: string): Date {
  const [year = 1970, month = 1, day = 1] = date.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1, day));
}

function format(date: Date): string {
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10);
}

export function ymd(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

export function today(): string {
  const now = new Date();
  return ymd(now.getFullYear(), now.getMonth() + 1, now.getDate());
}

export function addDays(date: string, days: number): string {
  return format(new Date(at(date).getTime() + days * DAY));
}

/** The same day of another month, or its last day. */
export function addMonths(date: string, months: number): string {
  const [year = 1970, month = 1, day = 1] = date.split("-").map(Number);
  const first = new Date(Date.UTC(year, month - 1 + months, 1));
  const length = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return ymd(first.getUTCFullYear(), first.getUTCMonth() + 1, Math.min(day, length));
}

export function daysBetween(from: string, to: string): number {
  return Math.round((at(to).getTime() - at(from).getTime()) / DAY);
}

/** 0 for Sunday. */
export function weekday(date: string): number {
  return at(date).getUTCDay();
}

/** The weeks of a month, whole ones, beginning with this day of the week. */
export function weeksOf(date: string, firstDay: number): string[][] {
  const first = `${date.slice(0, 7)}-01`;
  let day = addDays(first, -((weekday(first) - firstDay + 7) % 7));
  const weeks: string[][] = [];
  do {
    weeks.push(Array.from({ length: 7 }, (_, index) => addDays(day, index)));
    day = addDays(day, 7);
  } while (day.slice(0, 7) === first.slice(0, 7));
  return weeks;
}

/** The first day of the week where the reader is; Monday if the browser does not say. */
export function firstWeekday(language: string | undefined): number {
  interface Weeks { readonly weekInfo?: { firstDay: number }; getWeekInfo?(): { firstDay: number } }
  const locale = new Intl.Locale(language ?? navigator.language) as Intl.Locale & Weeks;
  return (locale.getWeekInfo?.() ?? locale.weekInfo ?? { firstDay: 1 }).firstDay % 7;
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function named(date: string, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options);
  const known = formats.get(key) ?? new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" });
  formats.set(key, known);
  return known.format(at(date));
}

/** Two dates as `Mar 9 – 15, 2026`. */
export function namedRange(from: string, to: string): string {
  return new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }).formatRange(at(from), at(to));
}

export function shownDate(date: string): string {
  return named(date, { day: "numeric", month: "short", year: "numeric" });
}

/** Read `2026-03-01`, `1.3.2026`, `3/1/26`, `1 Mar`, `today`, `tomorrow`, `+3` or `+2w`; null if it is no date. */
export function parseDate(text: string, from: string, monthFirst: boolean): string | null {
  const clean = text.trim().toLowerCase();
  const word = { today: 0, tomorrow: 1, yesterday: -1 }[clean];
  if (word !== undefined) {
    return addDays(from, word);
  }
  const relative = /^([+-]\d{1,4})\s*([dwmy]?)$/.exec(clean);
  if (relative) {
    return moved(from, Number(relative[1]), relative[2] ?? "");
  }
  return numeric(clean, monthFirst, from) ?? worded(clean, from);
}

function moved(from: string, count: number, unit: string): string {
  if (unit === "m" || unit === "y") {
    return addMonths(from, unit === "y" ? count * 12 : count);
  }
  return addDays(from, unit === "w" ? count * 7 : count);
}

function numeric(text: string, monthFirst: boolean, from: string): string | null {
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text);
  if (iso) {
    return checked(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  }
  const parts = /^(\d{1,2})([./-])(\d{1,2})(?:[./-](\d{2}|\d{4})?)?$/.exec(text);
  if (!parts) {
    return null;
  }
  const [first, second] = [Number(parts[1]), Number(parts[3])];
  const american = parts[2] === "/" && monthFirst;
  const year = parts[4] === undefined ? Number(from.slice(0, 4)) : Number(parts[4]) + (parts[4].length === 2 ? 2000 : 0);
  return american ? checked(year, first, second) : checked(year, second, first);
}

function worded(text: string, from: string): string | null {
  const months = Array.from({ length: 12 }, (_, month) => ymd(2000, month + 1, 1));
  const day = /(?<!\d)(\d{1,2})(?!\d)/.exec(text);
  const year = /\b(\d{4})\b/.exec(text);
  const month = months.findIndex((one) =>
    ["en", undefined].some((language) => {
      const name = new Intl.DateTimeFormat(language, { month: "short", timeZone: "UTC" }).format(at(one)).toLowerCase().replace(".", "").slice(0, 3);
      return new RegExp(`(^|[^\\p{L}])${name}`, "u").test(text);
    }),
  );
  return month < 0 || !day ? null : checked(Number(year?.[1] ?? from.slice(0, 4)), month + 1, Number(day[1]));
}

function checked(year: number, month: number, day: number): string | null {
  const made = ymd(year, month, day);
  return isDate(made) ? made : null;
}

/** Read `9`, `9:05`, `0905`, `2pm` or `14h30` as `HH:MM`; null if it is no time. */
export function parseTime(text: string): string | null {
  const found = /^(\d{1,2})(?:[:.h]?(\d{2}))?\s*([ap])?\.?m?\.?$/i.exec(text.trim().toLowerCase());
  if (!found) {
    return null;
  }
  const half = found[3];
  const hour = half === undefined ? Number(found[1]) : (Number(found[1]) % 12) + (half === "p" ? 12 : 0);
  const minute = Number(found[2] ?? 0);
  const valid = hour < 24 && minute < 60 && (half === undefined || Number(found[1]) <= 12);
  return valid ? `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}` : null;
}

/** Whether `3/4` is the fourth of March where the reader is. */
export function monthFirst(): boolean {
  const parts = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "numeric", timeZone: "UTC" }).formatToParts(new Date(0));
  return parts.findIndex(({ type }) => type === "month") < parts.findIndex(({ type }) => type === "day");
}
