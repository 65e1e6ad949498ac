import { describe, expect, it } from "vitest";
import { addDays, addMonths, daysBetween, isDate, parseDate, parseTime, weeksOf } from "../../src/elements/dates";

const FROM = "2026-03-14";

describe("dates as people write them", () => {
  it.each([
    ["2026-03-01", "2026-03-01"], ["2026/3/1", "2026-03-01"], ["1.3.2026", "2026-03-01"], ["1.3.", "2026-03-01"], ["3/1/26", "2026-03-01"],
    ["1 Mar", "2026-03-01"], ["March 1, 2027", "2027-03-01"], ["today", FROM], ["Tomorrow", "2026-03-15"], ["+3", "2026-03-17"], ["+2w", "2026-03-28"],
    ["-1m", "2026-02-14"], ["+1y", "2027-03-14"],
  ])("%s", (text, date) => expect(parseDate(text, FROM, true)).toBe(date));

  it.each(["", "31.2.2026", "13/13/26", "soon", "1 Foo 2026", "2026-02-29"])("%s is none", (text) => expect(parseDate(text, FROM, true)).toBeNull());

  it("takes the day first where people do", () => expect(parseDate("3/4", FROM, false)).toBe("2026-04-03"));
});

describe("times as people write them", () => {
  it.each([["9", "09:00"], ["9:05", "09:05"], ["0905", "09:05"], ["2pm", "14:00"], ["12am", "00:00"], ["14h30", "14:30"], ["2:15 PM", "14:15"]])("%s", (text, time) =>
    expect(parseTime(text)).toBe(time));
  it.each(["", "25", "9:75", "13pm", "noon"])("%s is none", (text) => expect(parseTime(text)).toBeNull());
});

describe("the calendar", () => {
  it("keeps the day of a month where there is one", () => {
    expect(addMonths("2026-01-31", 1)).toBe("2026-02-28");
    expect(addMonths("2026-01-31", -13)).toBe("2024-12-31");
    expect(addDays("2026-03-28", 2)).toBe("2026-03-30"); // clocks change in between
    expect(daysBetween("2026-03-01", "2026-04-01")).toBe(31);
    expect(isDate("2024-02-29") && !isDate("2026-02-29")).toBe(true);
  });

  it("shows whole weeks", () => {
    const weeks = weeksOf("2026-02-10", 1);
    expect(weeks.map((week) => week[0])).toEqual(["2026-01-26", "2026-02-02", "2026-02-09", "2026-02-16", "2026-02-23"]);
    expect(weeks.at(-1)?.at(-1)).toBe("2026-03-01");
  });
});
