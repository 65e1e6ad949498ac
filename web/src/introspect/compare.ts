/** Puts two screenshots side by side and frames what differs. The browser decodes pictures faster than the server could. */

const TILE = 8;
const GAP = 8;
const COLOUR = "#d6006c";
/** Differences of a colour channel up to this are noise of rendering. */
const NOISE = 12;

interface Region {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Compare two PNGs in base64; the answer is one PNG, before on the left, and the number of regions that differ. */
export async function compare(before: string, after: string): Promise<{ png: string; regions: number }> {
  const [old, now] = await Promise.all([decode(before), decode(after)]);
  const width = Math.max(old.width, now.width);
  const height = Math.max(old.height, now.height);
  const found = regions(differing(pixels(old, width, height), pixels(now, width, height), width, height));
  const canvas = new OffscreenCanvas(2 * width + GAP, height);
  const context = contextOf(canvas);
  context.fillStyle = "#808080";
  context.fillRect(0, 0, canvas.width, height);
  context.drawImage(old, 0, 0);
  context.drawImage(now, width + GAP, 0);
  context.strokeStyle = COLOUR;
  context.lineWidth = 2;
  for (const { left, top, right, bottom } of found) {
    for (const offset of [0, width + GAP]) {
      context.strokeRect(offset + left * TILE - 2, top * TILE - 2, (right - left + 1) * TILE + 4, (bottom - top + 1) * TILE + 4);
    }
  }
  const blob = await canvas.convertToBlob({ type: "image/png" });
  return { png: encode(new Uint8Array(await blob.arrayBuffer())), regions: found.length };
}

/** Which tiles differ, row by row. */
export function differing(old: Uint8ClampedArray, now: Uint8ClampedArray, width: number, height: number): boolean[][] {
  const rows: boolean[][] = Array.from({ length: Math.ceil(height / TILE) }, () => new Array<boolean>(Math.ceil(width / TILE)).fill(false));
  for (let at = 0; at < old.length; at += 4) {
    if (near(old, now, at) && near(old, now, at + 1) && near(old, now, at + 2)) continue;
    const pixel = at / 4;
    const row = rows[Math.floor(Math.floor(pixel / width) / TILE)];
    if (row) row[Math.floor((pixel % width) / TILE)] = true;
  }
  return rows;
}

/** The boxes around groups of tiles that touch. */
export function regions(tiles: boolean[][]): Region[] {
  const found: Region[] = [];
  tiles.forEach((row, top) => row.forEach((differs, left) => {
    if (!differs) return;
    const box = { left, top, right: left, bottom: top };
    const pending = [[top, left]];
    row[left] = false;
    for (let next = pending.pop(); next; next = pending.pop()) {
      const [y = 0, x = 0] = next;
      Object.assign(box, { left: Math.min(box.left, x), right: Math.max(box.right, x), top: Math.min(box.top, y), bottom: Math.max(box.bottom, y) });
      for (let down = -1; down <= 1; down++) {
        for (let aside = -1; aside <= 1; aside++) {
          const other = tiles[y + down];
          if (other?.[x + aside]) {
            other[x + aside] = false;
            pending.push([y + down, x + aside]);
          }
        }
      }
    }
    found.push(box);
  }));
  return found;
}

function near(old: Uint8ClampedArray, now: Uint8ClampedArray, at: number): boolean {
  return Math.abs((old[at] ?? 0) - (now[at] ?? 0)) <= NOISE;
}

function contextOf(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws no pictures");
  return context;
}

function pixels(picture: ImageBitmap, width: number, height: number): Uint8ClampedArray {
  const context = contextOf(new OffscreenCanvas(width, height));
  context.drawImage(picture, 0, 0);
  return context.getImageData(0, 0, width, height).data;
}

function decode(png: string): Promise<ImageBitmap> {
  return createImageBitmap(new Blob([Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0))], { type: "image/png" }));
}

function encode(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
