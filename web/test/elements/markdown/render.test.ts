import { expect, it } from "vitest";
import { dedented, rendered } from "../../../src/elements/markdown/render";

it("shows HTML as text and follows no script", () => {
  const html = rendered("<img src=x onerror=alert(1)> [a](javascript:alert(1)) <script>1</script>");
  expect(html).not.toMatch(/<img|<script|href="javascript/);
});

it("loads no picture of another machine", () => {
  expect(rendered("![cat](https://example.com/cat.png)")).toContain('<a href="https://example.com/cat.png"');
  expect(rendered("![cat](/cat.png)")).toContain('<img src="/cat.png" alt="cat">');
  expect(rendered("![x](//example.com/a.png)")).not.toContain("<img");
});

it("draws tables, tasks and code", () => {
  const html = rendered("- [x] done\n- [ ] open\n\n| a |\n|---|\n| 1 |\n\n```lua\nlocal a = 1\n```");
  expect(html).toContain('<li class="task">☑ done');
  expect(html).toContain("<td>1</td>");
  expect(html).toContain('<span class="code-keyword">local</span>');
});

it("takes the indentation of a viewdef away", () => expect(dedented("\n    # A\n      b\n    c\n").trim()).toBe("# A\n  b\nc"));
