/** What the page of the person sends with its requests, and what it does when they are refused. */
import { beforeEach, expect, test } from "vitest";
import { codeFromAddress, personClient, sendJson } from "../../src/person/client";

interface Sent {
  readonly path: string;
  readonly person: string | null;
  readonly nonce: string | null;
}

/** A server that answers in turn, and what it was sent. */
function server(...answers: readonly (readonly [number, unknown])[]): { readonly fetcher: typeof fetch; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const waiting = [...answers];
  const fetcher = (path: unknown, options: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(options.headers);
    sent.push({ path: String(path), person: headers.get("x-ui-person"), nonce: headers.get("x-ui-nonce") });
    const [status, body] = waiting.shift() ?? [500, {}];
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  };
  return { fetcher, sent };
}

beforeEach(() => {
  localStorage.clear();
  document.head.innerHTML = '<meta name="ui-nonce" content="n1">';
});

test("a code becomes a credential that later requests carry; only changes carry the nonce", async () => {
  const { fetcher, sent } = server([200, { credential: "c1" }], [200, {}]);
  const person = personClient(fetcher);
  await person.signIn("AAAA-BBBB-CCCC-DDDD");
  await person.fetch("/person/state");
  expect(sent).toEqual([
    { path: "/person/enter", person: null, nonce: "n1" },
    { path: "/person/state", person: "c1", nonce: null },
  ]);
  expect(localStorage.getItem("ui-person")).toBe("c1");
});

test("a stale page gets a new nonce and repeats the request once", async () => {
  localStorage.setItem("ui-person", "c1");
  const { fetcher, sent } = server([409, { error: { code: "stale_page", message: "" } }], [200, { nonce: "n2" }], [200, { id: "1" }]);
  expect(await sendJson(personClient(fetcher).fetch, "/chat/messages", {})).toEqual({ id: "1" });
  expect(sent.map(({ path, nonce }) => [path, nonce])).toEqual([["/chat/messages", "n1"], ["/person/nonce", null], ["/chat/messages", "n2"]]);
});

test("another conflict is no stale page", async () => {
  const { fetcher, sent } = server([409, { error: { code: "already_decided", message: "Too late" } }]);
  await expect(personClient(fetcher).fetch("/x", { method: "POST" })).rejects.toThrow("Too late");
  expect(sent.length).toBe(1);
});

test("a refused credential is forgotten and reasons", async () => {
  localStorage.setItem("ui-person", "old");
  const { fetcher } = server([401, { error: { code: "unauthorized", message: "no" } }]);
  const person = personClient(fetcher);
  const reasons: string[] = [];
  person.onSignedOut((why) => reasons.push(why));
  await expect(person.fetch("/person/state")).rejects.toThrow("no");
  expect([reasons, localStorage.getItem("ui-person")]).toEqual([["This browser is no longer signed in."], null]);
});

test("a wrong code leaves a credential that is there alone", async () => {
  localStorage.setItem("ui-person", "good");
  const { fetcher } = server([401, { error: { code: "unauthorized", message: "wrong" } }]);
  const person = personClient(fetcher);
  await expect(person.signIn("AAAA-BBBB-CCCC-DDDD")).rejects.toThrow("wrong");
  expect(person.credential()).toBe("good");
});

test("the code leaves the address", () => {
  history.replaceState(null, "", "/approvals#code=AAAA-BBBB");
  expect([codeFromAddress(), location.hash, codeFromAddress()]).toEqual(["AAAA-BBBB", "", ""]);
});
