import { describe, expect, it } from "vitest";
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

  it.each([
    ["```py\nx = 1\n```", '<pre tabindex="0" data-language="py"><code>x = <span class="code-number">1</span></code></pre>'],
    ["~~~~\n~~~\n~~~~", '<pre tabindex="0"><code>~~~</code></pre>'],
    ["```\nnever closed", '<pre tabindex="0"><code>never closed</code></pre>'],
    ["| a | b |\n|---|:-:|\n| 1 | *2* |", '<div class="table-scroll"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><em>2</em></td></tr></tbody></table></div>'],
    ["a | b\nno table", "<p>a | b\nno table</p>"],
    ["3. three\n4. four", '<ol start="3"><li>three</li><li>four</li></ol>'],
    ["- a\n\n  second paragraph\n- b", "<ul><li><p>a</p><p>second paragraph</p></li><li>b</li></ul>"],
    ["- [ ] open", "<ul><li>☐ open</li></ul>"],
    ["***", "<hr>"],
    ["###### six\n####### seven", "<h6>six</h6><p>####### seven</p>"],
    ["one  \ntwo\r\nthree", "<p>one<br>two\nthree</p>"],
    ["> quoted\n> - item", "<blockquote><p>quoted</p><ul><li>item</li></ul></blockquote>"],
  ])("renders %j", (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it.each([
    ["https://example.org/a_b_c.", 'href="https://example.org/a_b_c"'],
    ["<https://example.org>", 'href="https://example.org"'],
    ["[text](https://example.org/(x))", 'href="https://example.org/(x)"'],
    ['[text](mailto:a@b.c "title")', 'href="mailto:a@b.c"'],
  ])("links %s", (text, expected) => {
    expect(html(text)).toContain(expected);
    expect(html(text)).toContain('target="_blank" rel="noopener noreferrer nofollow"');
  });

  it("stops nesting at a depth that cannot exhaust the stack", () => {
    expect(html(`${"> ".repeat(9)}deep`)).toContain("&gt; &gt; &gt; deep");
  });
});
