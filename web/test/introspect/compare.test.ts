import { expect, test } from "vitest";

import { differing, regions } from "../../src/introspect/compare";

function picture(width: number, height: number, ...dark: [number, number][]): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (const [x, y] of dark) pixels.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  return pixels;
}

test("pixels that differ mark their tiles, noise of rendering does not", () => {
  const noisy = picture(32, 16).map((value) => value - 5);

  expect(differing(picture(32, 16), noisy, 32, 16).flat()).not.toContain(true);
  expect(differing(picture(32, 16), picture(32, 16, [9, 1], [31, 15]), 32, 16)).toEqual([
    [false, true, false, false],
    [false, false, false, true],
  ]);
});

test("tiles that touch are one region", () => {
  const tiles = [
    [true, false, false, false, true],
    [false, true, false, false, false],
    [false, false, false, false, true],
  ];

  expect(regions(tiles)).toEqual([
    { left: 0, top: 0, right: 1, bottom: 1 },
    { left: 4, top: 0, right: 4, bottom: 0 },
    { left: 4, top: 2, right: 4, bottom: 2 },
  ]);
});
