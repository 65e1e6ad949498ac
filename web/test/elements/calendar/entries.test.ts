import { describe, expect, it } from "vitest";
import { isWhole, lanes, read, shifted, sideBySide, spanOn } from "../../../src/elements/calendar/entries";
import type { Item } from "../../../src/elements/items";

function entry(fields: Item): NonNullable<ReturnType<typeof read>> {
  const found = read(fields, "date");
  if (found === null) {
    throw new Error("no entry");
  }
  return found;
}

describe("entries out of Lua tables", () => {
  it.each([
    [{ date: "2026-03-10" }, "2026-03-10", null, 1440, ""],
    [{ date: "2026-03-10", to: "2026-03-12" }, "2026-03-12", null, 1440, ""],
    [{ date: "2026-03-10", to: "2026-03-01" }, "2026-03-10", null, 1440, ""],
    [{ date: "2026-03-10", time: "09:00" }, "2026-03-10", 540, 600, "09:00"],
    [{ date: "2026-03-10T09:00", to: "10:30" }, "2026-03-10", 540, 630, "09:00–10:30"],
    [{ date: "2026-03-10 09:00:15", to: "2026-03-10 10:30:00" }, "2026-03-10", 540, 630, "09:00–10:30"],
    [{ date: "2026-03-10T09:00", to: "2026-03-10" }, "2026-03-10", 540, 600, "09:00"],
    [{ date: "2026-03-10T22:00", to: "02:00" }, "2026-03-11", 1320, 120, "22:00"],
    [{ date: "2026-03-10T22:00", to: "2026-03-11T00:00" }, "2026-03-10", 1320, 1440, "22:00–24:00"],
    [{ date: "2026-03-10T23:30" }, "2026-03-10", 1410, 1440, "23:30"],
    [{ date: "2026-03-10T99:00", to: "later" }, "2026-03-10", null, 1440, ""],
  ])("%o", (item, last, from, until, time) => expect(entry(item)).toEqual({ item, day: "2026-03-10", last, from, until, time }));

  it.each([{}, { date: "soon" }, { date: "2026-02-30" }, { date: 7 }])("%o is none", (item) => expect(read(item, "date")).toBeNull());

  it("stands above the hours without a time or from a whole day on", () => {
    expect([{ date: "2026-03-10" }, { date: "2026-03-10T09:00", to: "2026-03-12" }, { date: "2026-03-10T09:00", to: "2026-03-11T09:00" }].map((one) => isWhole(entry(one)))).toEqual([true, true, true]);
    expect([{ date: "2026-03-10T09:00" }, { date: "2026-03-10T22:00", to: "02:00" }].map((one) => isWhole(entry(one)))).toEqual([false, false]);
  });

  it("takes a part of each day over midnight, and enough room to be read", () => {
    const late = entry({ date: "2026-03-10T22:00", to: "02:00" });
    expect([spanOn(late, "2026-03-10"), spanOn(late, "2026-03-11")]).toEqual([{ start: 1320, end: 1440 }, { start: 0, end: 120 }]);
    expect(spanOn(entry({ date: "2026-03-10T09:00", to: "09:05" }), "2026-03-10")).toEqual({ start: 540, end: 565 });
    expect(spanOn(entry({ date: "2026-03-10T23:55" }), "2026-03-10")).toEqual({ start: 1415, end: 1440 });
  });
});

describe("overlapping entries", () => {
  const placed = (...spans: [number, number][]): number[][] => sideBySide(spans.map(([start, end]) => ({ start, end }))).map(({ column, of, wide }) => [column, of, wide]);

  it("stand side by side, alone ones over the whole width", () => {
    expect(placed([0, 60], [30, 90], [90, 120])).toEqual([[0, 2, 1], [1, 2, 1], [0, 1, 1]]);
  });

  it("use a column again and widen where there is room", () => {
    expect(placed([0, 180], [0, 60], [30, 90], [120, 180])).toEqual([[0, 3, 1], [1, 3, 1], [2, 3, 1], [1, 3, 2]]);
  });

  it("of whole days have a line each", () => {
    const days = ["2026-03-09", "2026-03-10", "2026-03-11"];
    const found = lanes([{ date: "2026-03-10" }, { date: "2026-03-01", to: "2026-03-10" }, { date: "2026-03-11", to: "2026-03-30" }].map(entry), days);
    expect(found.map(({ lane, first, length }) => [lane, first, length])).toEqual([[0, 0, 2], [1, 1, 1], [0, 2, 1]]);
  });
});

describe("moving", () => {
  const moved = (item: Item, days: number, minutes = 0): Record<string, string> => shifted(entry(item), "date", days, minutes);

  it("keeps the way a date is written", () => {
    expect(moved({ date: "2026-03-10", to: "2026-03-12" }, 7)).toEqual({ date: "2026-03-17", to: "2026-03-19" });
    expect(moved({ date: "2026-03-10T09:00", to: "2026-03-10T10:30" }, 1, 15)).toEqual({ date: "2026-03-11T09:15", to: "2026-03-11T10:45" });
    expect(moved({ date: "2026-03-10 23:00:00", to: "2026-03-10 23:50:00" }, 0, 15)).toEqual({ date: "2026-03-10 23:15:00", to: "2026-03-11 00:05:00" });
    expect(moved({ date: "2026-03-10", time: "09:00" }, 1, -30)).toEqual({ date: "2026-03-11", time: "08:30" });
    expect(moved({ date: "2026-03-10T09:00", to: "10:30" }, 0, 15)).toEqual({ date: "2026-03-10T09:15", to: "10:45" });
  });

  it("stays within the day", () => {
    expect(moved({ date: "2026-03-10T00:10" }, 0, -15)).toEqual({ date: "2026-03-10T00:00" });
    expect(moved({ date: "2026-03-10T23:45" }, 0, 15)).toEqual({ date: "2026-03-10T23:45" });
    expect(moved({ date: "2026-03-10T22:30", to: "23:50" }, 0, 60)).toEqual({ date: "2026-03-10T22:39", to: "23:59" });
  });
});
