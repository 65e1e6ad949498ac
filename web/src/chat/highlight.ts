/** Syntax highlighting by token kind, without a grammar: good enough for most languages, and small. */

const KEYWORDS = new Set(
  (
    "and as async await begin break case catch class const continue def default defer delete do elif else elseif end enum " +
    "except export extends false final finally fn for foreach from fun func function global go goto if impl implements import in " +
    "instanceof interface is lambda let local loop match mod module mut new nil not null None or package pass private protected " +
    "pub public raise repeat return select self static struct super switch then this throw throws trait true True False try type " +
    "typeof undefined until use using val var void when where while with yield SELECT FROM WHERE INSERT INTO UPDATE SET DELETE " +
    "CREATE TABLE JOIN ON ORDER BY GROUP LIMIT VALUES AND OR NOT NULL"
  ).split(" "),
);

const HASH_COMMENTS = new Set(["python", "py", "bash", "sh", "shell", "yaml", "yml", "toml", "ruby", "rb", "r", "make", "dockerfile"]);
const DASH_COMMENTS = new Set(["lua", "sql", "haskell", "hs"]);

export type Kind = "comment" | "string" | "number" | "keyword" | "plain";

export interface Piece {
  readonly kind: Kind;
  readonly text: string;
}

/** Split `code` into pieces, which joined give the code again. */
export function highlight(code: string, language: string): Piece[] {
  const pattern = tokens(language.toLowerCase());
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of code.matchAll(pattern)) {
    if (found.index > end) {
      pieces.push({ kind: "plain", text: code.slice(end, found.index) });
    }
    pieces.push({ kind: kindOf(found), text: found[0] });
    end = found.index + found[0].length;
  }
  if (end < code.length) {
    pieces.push({ kind: "plain", text: code.slice(end) });
  }
  return pieces;
}

function tokens(language: string): RegExp {
  const line = HASH_COMMENTS.has(language) ? "#.*" : DASH_COMMENTS.has(language) ? "--.*" : "\\/\\/.*|\\/\\*[\\s\\S]*?\\*\\/";
  const text = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\[\\s\\S])*\``;
  return new RegExp(`(?<comment>${line})|(?<string>${text})|(?<number>\\b\\d[\\w.]*)|(?<word>[A-Za-z_$][\\w$]*)`, "g");
}

function kindOf(found: RegExpMatchArray): Kind {
  const groups = found.groups ?? {};
  if (groups["word"] !== undefined) {
    return KEYWORDS.has(groups["word"]) ? "keyword" : "plain";
  }
  return groups["comment"] !== undefined ? "comment" : groups["string"] !== undefined ? "string" : "number";
}
