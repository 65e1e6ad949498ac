import { expect, it } from "vitest";
import { parseLine, plain, styleAfter } from "../../../src/elements/log/ansi";

it("cuts a line into pieces of one style", () => {
  const { pieces, style } = parseLine("\x1b[1;31merror\x1b[0m in \x1b[4mmain.c");
  expect(pieces).toEqual([
    { text: "error", style: { bold: true, color: "var(--ansi-red)" } },
    { text: " in ", style: {} },
    { text: "main.c", style: { underline: true } },
  ]);
  expect(style).toEqual({ underline: true });
  expect(parseLine("next", style).pieces[0]?.style).toEqual({ underline: true });
});

it("knows the colours of terminals", () => {
  const colour = (codes: string): string | undefined => parseLine(`\x1b[${codes}mx`).pieces[0]?.style.color;
  expect(colour("92")).toBe("var(--ansi-bright-green)");
  expect(colour("38;5;9")).toBe("var(--ansi-bright-red)");
  expect(colour("38;5;196")).toBe("rgb(255 0 0)");
  expect(colour("38;5;244")).toBe("rgb(128 128 128)");
  expect(colour("38;2;1;2;3")).toBe("rgb(1 2 3)");
  expect(parseLine("\x1b[48;5;21;1mx").pieces[0]?.style).toEqual({ background: "rgb(0 0 255)", bold: true });
});

it("leaves out what moves the cursor, titles, links and control characters", () => {
  expect(plain("a\x1b[2K\x1b[1Gb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1b]8;;\x1b\\\x00")).toBe("abcd");
  expect(plain("10%\r50%\r100%\r")).toBe("100%");
});

it("knows the style that the next line begins with", () => {
  expect(styleAfter(["a \x1b[1mb", "c", "\x1b[31md"])).toEqual({ bold: true, color: "var(--ansi-red)" });
  expect(styleAfter(["a \x1b[1mb\x1b[0m", "c"])).toEqual({});
});
