import { expect, test, vi } from "vitest";
import { chartView, isChartable, pointsOf } from "../../src/nlui/chart";

const rows = [{ month: "Jan", food: 3, tags: ["a"] }, { month: "Feb", food: 5, travel: null }];

test("only rows with numbers are drawn, and nothing nested", () => {
  expect([isChartable(rows), isChartable([{ a: "x" }, { a: "y" }]), isChartable([{ a: 1 }])]).toEqual([true, false, false]);
  expect(pointsOf(rows)).toEqual({ names: ["month", "food", "travel"], columns: [["Jan", "Feb"], [3, 5], [null, null]] });
});

test("a chart has the type and names that were asked for, and bars instead of an unknown type", async () => {
  const drawn = chartView(rows, { type: "donut", label: "Spending", series: ["food", 3] }, () => Promise.resolve());
  const other = chartView(rows, { type: "gauge\" onload=x" }, () => Promise.resolve());
  await vi.waitFor(() => expect(other.querySelector("ui-chart")?.getAttribute("type")).toBe("bar"));
  const attributes = ["type", "label", "series"].map((name) => drawn.querySelector("ui-chart")?.getAttribute(name));
  expect(attributes).toEqual(["donut", "Spending", "food"]);
});

test("a chart that cannot be loaded says so", async () => {
  const view = chartView(rows, {}, () => Promise.reject(new Error("offline")));
  await vi.waitFor(() => expect(view.textContent).toContain("could not be loaded"));
});
