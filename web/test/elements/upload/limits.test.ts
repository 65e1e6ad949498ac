import { expect, it } from "vitest";
import { accepts, bytesOf, refusal, shownBytes } from "../../../src/elements/upload/limits";

it("reads and shows sizes", () => {
  expect([bytesOf("5 MB"), bytesOf("1.5kb"), bytesOf("10"), bytesOf("much")]).toEqual([5242880, 1536, 10, null]);
  expect([shownBytes(12), shownBytes(1536), shownBytes(5242880)]).toEqual(["12 B", "1.5 KB", "5 MB"]);
});

it("knows kinds of files by ending and type", () => {
  expect(accepts(".csv, image/*", "a.CSV", "")).toBe(true);
  expect(accepts(".csv, image/*", "a.bin", "image/png")).toBe(true);
  expect(accepts("text/plain", "a.txt", "text/html")).toBe(false);
  expect(accepts("", "a", "")).toBe(true);
});

it("says why a file is not taken", () => {
  const limits = { accept: ".csv", maxSize: 1024, maxFiles: 1 };
  const file = { name: "a.csv", size: 10, type: "" };
  expect(refusal(file, 0, limits)).toBe("");
  expect(refusal({ ...file, name: "a.exe" }, 0, limits)).toBe("This kind of file is not taken; .csv is.");
  expect(refusal({ ...file, size: 2048 }, 0, limits)).toBe("It has 2 KB; the most is 1 KB.");
  expect(refusal(file, 1, limits)).toBe("At most 1 file.");
});
