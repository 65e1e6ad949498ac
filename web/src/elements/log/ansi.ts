/** ANSI escape sequences of programs that think they write to a terminal; pure. */

export interface Style {
  readonly color?: string;
  readonly background?: string;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
}

export interface Piece {
  readonly text: string;
  readonly style: Style;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const SWITCHES: Readonly<Record<number, Style>> = {
  1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underline: true }, 7: { inverse: true }, 9: { strike: true },
  22: { bold: false, dim: false }, 23: { italic: false }, 24: { underline: false }, 27: { inverse: false }, 29: { strike: false },
};
// Colours (CSI … m), other control sequences, and titles and links (OSC), which are left out.
const SEQUENCE = /\x1b\[([\d;:]*)m|\x1b\[[\d;?<=>!"' ]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_()][0-9A-B]?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** One line as pieces of one style each, and the style that the next line begins with. */
export function parseLine(line: string, before: Style = {}): { pieces: Piece[]; style: Style } {
  const text = overwritten(line);
  const pieces: Piece[] = [];
  let [style, end] = [before, 0];
  const push = (to: number): void => {
    if (to > end) {
      pieces.push({ text: text.slice(end, to), style });
    }
  };
  for (const found of text.matchAll(SEQUENCE)) {
    push(found.index);
    end = found.index + found[0].length;
    if (found[1] !== undefined) {
      style = applied(style, found[1]);
    }
  }
  push(text.length);
  return { pieces, style };
}

/** The style that the line after these begins with. */
export function styleAfter(lines: readonly string[]): Style {
  return lines.reduce<Style>((style, line) => (line.includes("\x1b") ? parseLine(line, style).style : style), {});
}

/** A carriage return begins the line anew, as bars of progress do. */
function overwritten(line: string): string {
  const parts = line.replace(/\r+$/, "").split("\r");
  return parts.at(-1) ?? "";
}

function applied(before: Style, codes: string): Style {
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  let style = before;
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const { color, used } = extended(numbers.slice(at + 1));
      style = code === 38 ? { ...style, color } : { ...style, background: color };
      at += used;
    } else {
      style = code === 0 ? {} : { ...style, ...simple(code) };
    }
  }
  return style;
}

function simple(code: number): Style {
  const name = (index: number, bright: boolean): string => `var(--ansi-${bright ? "bright-" : ""}${NAMES[index] ?? "white"})`;
  if (code >= 30 && code <= 37) {
    return { color: name(code - 30, false) };
  }
  if (code >= 90 && code <= 97) {
    return { color: name(code - 90, true) };
  }
  if (code >= 40 && code <= 47) {
    return { background: name(code - 40, false) };
  }
  if (code >= 100 && code <= 107) {
    return { background: name(code - 100, true) };
  }
  return code === 39 ? { color: "" } : code === 49 ? { background: "" } : (SWITCHES[code] ?? {});
}

/** `5;N` of 256 colours, or `2;R;G;B`. */
function extended(rest: readonly number[]): { color: string; used: number } {
  if (rest[0] === 2) {
    return { color: `rgb(${rest.slice(1, 4).map((part) => Math.min(255, part || 0)).join(" ")})`, used: 4 };
  }
  const index = rest[1] ?? 0;
  if (index < 16) {
    return { color: simple(index < 8 ? 30 + index : 82 + index).color ?? "", used: 2 };
  }
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return { color: `rgb(${grey} ${grey} ${grey})`, used: 2 };
  }
  const level = (part: number): number => (part === 0 ? 0 : 55 + part * 40);
  const cube = index - 16;
  return { color: `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`, used: 2 };
}

export function plain(line: string): string {
  return parseLine(line).pieces.map(({ text }) => text).join("");
}
