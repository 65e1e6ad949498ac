/** A call that needs approval, written for people: what would be sent where, for whom, and at what risk. */
import { make } from "../nlui/dom";
import "./request.css";

export interface Preview {
  readonly method: string;
  readonly url: string;
  readonly body?: string | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly curl?: string | null;
}

export interface Approval {
  readonly id: string;
  readonly tool: string;
  /** What the call does, in plain words. */
  readonly says: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly principal: string;
  readonly agent: string;
  readonly risk: string;
  readonly reason: string;
  readonly preview: Preview | null;
  /** The arguments that a lasting approval would cover, by path. */
  readonly covers: Readonly<Record<string, string>>;
  readonly created_at: number;
  readonly expires_at: number;
  readonly status: string;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
  readonly answer_reason: string | null;
  readonly scope: string | null;
  readonly execution: { readonly state: string };
}

export const RISKS: Readonly<Record<string, string>> = { reads: "Reads", writes: "Changes data", destroys: "Destructive" };

/** Escape control, invisible and bidirectional characters, which could disguise what the text says. */
export function plain(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
}

/** Break a JSON text into lines. Adds only white space, so that the text shown is the text sent. */
export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.includes("\n")) {
    return text;
  }
  let depth = 0;
  let lines = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:]+|"/g)) {
    if (token === "{" || token === "[") {
      depth += 1;
      lines += `${token}\n${"  ".repeat(depth)}`;
    } else if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      lines = `${lines.trimEnd()}\n${"  ".repeat(depth)}${token}`;
    } else if (token === ",") {
      lines += `,\n${"  ".repeat(depth)}`;
    } else {
      lines += token === ":" ? ": " : token.trim();
    }
  }
  return lines.replace(/([{[])\s+([}\]])/g, "$1$2");
}

export function json(value: unknown): string {
  return plain(JSON.stringify(value, null, 2));
}

/** Return the value as a preview if it has the fields of one. */
export function previewOf(value: unknown): Preview | null {
  const given = value as Partial<Preview> | null | undefined;
  return typeof given?.method === "string" && typeof given.url === "string" ? (given as Preview) : null;
}

/** Method and URL with the host emphasised; without a preview the tool's name. */
export function headline(tool: string, preview: Preview | null): readonly Node[] {
  if (!preview) {
    return [make("span.ask-method", {}, "Call"), make("span.ask-url", {}, plain(tool))];
  }
  const [, before = "", host = "", rest = plain(preview.url)] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/is.exec(plain(preview.url)) ?? [];
  return [
    make("span", { class: `ask-method ask-${plain(preview.method).toLowerCase()}` }, plain(preview.method)),
    make("span.ask-url", {}, make("span.ask-far", {}, before), make("strong", {}, host), rest),
  ];
}

export function riskBadge(risk: string): HTMLElement | null {
  return RISKS[risk] ? make("span", { class: `ask-risk ask-risk-${risk}` }, RISKS[risk]) : null;
}

/** A row without controls, for pages that may only read. */
export function waitingRow(row: Approval): HTMLElement {
  return make(
    "li",
    { class: row.risk === "destroys" ? "ask-row ask-destroys" : "ask-row" },
    make("p.ask-who", {}, `${plain(row.says)} `, riskBadge(row.risk)),
    make("div.ask-head", {}, ...headline(row.tool, row.preview)),
  );
}
