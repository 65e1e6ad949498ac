import { expect, it } from "vitest";
import { boxBetween, moved, resized } from "../../../src/elements/image/boxes";

it("keeps boxes on the picture", () => {
  expect(boxBetween({ x: 50, y: 120 }, { x: -10, y: 40 })).toEqual({ x: 0, y: 40, w: 50, h: 60 });
  const box = { x: 80, y: 10, w: 20, h: 20 };
  expect(moved(box, 10, -20)).toEqual({ x: 80, y: 0, w: 20, h: 20 });
  expect(resized(box, 10, -30, 1)).toEqual({ x: 80, y: 10, w: 20, h: 1 });
});
