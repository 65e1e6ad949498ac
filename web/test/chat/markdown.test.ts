import { describe, expect, it } from "vitest";
import { highlight } from "../../src/chat/highlight";
import { markdown } from "../../src/chat/markdown";

function html(text: string): string {
  const box = document.createElement("div");
  box.append(markdown(text));
  return box.innerHTML;
}

describe("markdown", () => {
  it.each([
    ["plain *em* **strong** `code` ~~gone~~", "<p>plain <em>em</em> <strong>strong</strong> <code>code</code> <s>gone</s></p>"],
    ["# Title", "<h2>Title</h2>"],
    ["- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"],
    ["1. one\n2. two", "<ol><li>one</li><li>two</li></ol>"],
    ["> said\n> twice", "<blockquote><p>said\ntwice</p></blockquote>"],
    ["- [x] done", "<ul><li>☑ done</li></ul>"],
    ["- a\n- b\n\nafter", "<ul><li>a</li><li>b</li></ul><p>after</p>"],
    ["snake_case_name and 2*3*4", "<p>snake_case_name and 2<em>3</em>4</p>"],
    ["\\*not em\\*", "<p>*not em*</p>"],
  ])("%s", (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it.each(["<script>x</script>", "<img src=x onerror=y>", "&lt;b&gt;"])("shows %s as text", (text) => {
    const box = document.createElement("div");
    box.append(markdown(text));
    expect(box.textContent).toBe(text);
    expect(box.querySelector("script, img, b")).toBeNull();
  });

  it.each(["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "//evil.example", "file:///etc/passwd"])(
    "makes no link to %s",
    (address) => {
      expect(html(`[x](${address})`)).not.toContain("href");
    },
  );

  it("shows an image as a link", () => {
    expect(html("![cat](https://example.org/cat.png)")).toContain('<a href="https://example.org/cat.png"');
  });

  it("ends on any text", () => {
    const hostile = ["[".repeat(5000), "*".repeat(5000), "> ".repeat(3000), "`".repeat(5001), `${"- ".repeat(2000)}x`, "|-".repeat(3000)];
    for (const text of hostile) {
      expect(html(text).length).toBeGreaterThan(0);
    }
  });
});

describe("highlight", () => {
  it("keeps every character", () => {
    const code = 'def f(x):  # why\n    return "a" + 1.5 // `b`';
    expect(highlight(code, "python").map((piece) => piece.text).join("")).toBe(code);
  });

  it("knows comments of the language", () => {
    expect(highlight("-- why\nlocal x = 1", "lua").map(({ kind }) => kind)).toEqual(["comment", "plain", "keyword", "plain", "plain", "plain", "number"]);
  });
});
