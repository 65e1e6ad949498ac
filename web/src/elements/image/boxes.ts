/** Boxes on a picture in percent of its width and height; pure. */

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const within = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));
const tidy = (value: number): number => Math.round(value * 100) / 100;

export function boxBetween(a: Point, b: Point): Box {
  const [left, right] = [a.x, b.x].map((x) => within(x, 0, 100)).sort((one, two) => one - two) as [number, number];
  const [top, bottom] = [a.y, b.y].map((y) => within(y, 0, 100)).sort((one, two) => one - two) as [number, number];
  return { x: tidy(left), y: tidy(top), w: tidy(right - left), h: tidy(bottom - top) };
}

export function moved({ x, y, w, h }: Box, dx: number, dy: number): Box {
  return { x: tidy(within(x + dx, 0, 100 - w)), y: tidy(within(y + dy, 0, 100 - h)), w, h };
}

export function resized({ x, y, w, h }: Box, dw: number, dh: number, least: number): Box {
  return { x, y, w: tidy(within(w + dw, least, 100 - x)), h: tidy(within(h + dh, least, 100 - y)) };
}
