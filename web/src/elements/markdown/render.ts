/** Markdown as HTML that is safe to show: HTML in it is text, and nothing of other machines is loaded. */
import MarkdownIt from "markdown-it";
import { highlight } from "../../chat/highlight";

const escape = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

const parser = new MarkdownIt({
  html: false,
  linkify: true,
  highlight: (code, language) => highlight(code, language).map(({ kind, text }) => (kind === "plain" ? escape(text) : `<span class="code-${kind}">${escape(text)}</span>`)).join(""),
});
const { rules } = parser.renderer;

rules.link_open = (tokens, at, options, _, self) => {
  const token = tokens[at];
  if (/^(?:[a-z]+:)?\/\//i.test(String(token?.attrGet("href") ?? ""))) {
    token?.attrSet("target", "_blank");
    token?.attrSet("rel", "noopener noreferrer");
  }
  return self.renderToken(tokens, at, options);
};
rules.image = (tokens, at) => {
  const token = tokens[at];
  const [source, text] = [String(token?.attrGet("src") ?? ""), token?.content ?? ""];
  const foreign = /^(?:[a-z]+:)?\/\//i.test(source) && !source.startsWith(`${location.origin}/`);
  return foreign ? `<a href="${escape(source)}" target="_blank" rel="noopener noreferrer">Picture: ${escape(text || source)}</a>` : `<img src="${escape(source)}" alt="${escape(text)}">`;
};
rules.table_open = () => '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>';
rules.table_close = () => "</table></div>";

/** The HTML of a text; nothing in the text becomes an element that it does not name in Markdown. */
export function rendered(text: string): string {
  const html = parser.render(text).replace(/<pre>/g, '<pre tabindex="0">');
  return html.replace(/<li>(<p>)?\[([ xX])\] /g, (_, p: string | undefined, mark: string) => `<li class="task">${p ?? ""}${mark === " " ? "☐" : "☑"} `);
}

/** A text in a viewdef is indented like the HTML around it. */
export function dedented(text: string): string {
  const lines = text.split("\n");
  const indent = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(Number.isFinite(indent) ? indent : 0)).join("\n");
}
