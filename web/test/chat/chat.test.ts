import { beforeEach, describe, expect, test, vi } from "vitest";
import { chat, type Options } from "../../src/chat/chat";
import type { Message } from "../../src/chat/log";
import type { Server, StreamListener } from "../../src/chat/server";
import { RequestError } from "../../src/person/client";
import { element } from "../view/open_app";

const message = (id: string, content: string): Message => ({ id, ts: "2026-01-01T10:00:00Z", author: "assistant", mime: "text/markdown", content });
let listener: StreamListener | null;
let posted: string[];
let post: () => Promise<{ id: string; ts: string }>;
let earlier: () => Promise<{ messages: Message[]; has_earlier: boolean }>;
let stopped: number;

const server: Server = {
  post: (content) => {
    posted.push(content);
    return post();
  },
  earlier: () => earlier(),
  follow: (_, given) => {
    listener = given;
    return () => (stopped += 1);
  },
};

async function open(options: Options = {}): Promise<ReturnType<typeof chat>> {
  document.body.innerHTML = "<main></main>";
  const opened = chat(element("main"), server, options);
  await vi.waitFor(() => expect(listener).not.toBeNull());
  return opened;
}

function write(text: string): void {
  element("textarea", HTMLTextAreaElement).value = text;
  element("form", HTMLFormElement).requestSubmit();
}

const bubbles = (): (string | undefined)[] => [...document.querySelectorAll(".chat-message")].map((one) => one.querySelector(".chat-body")?.textContent);

beforeEach(() => {
  [listener, posted, stopped] = [null, [], 0];
  post = () => Promise.resolve({ id: "5", ts: "2026-01-01T10:00:00Z" });
  earlier = () => Promise.resolve({ messages: [message("1", "hello")], has_earlier: false });
});

describe("a message", () => {
  test("of the history and of the stream is shown", async () => {
    await open();
    listener?.message(message("2", "world"));
    expect(bubbles()).toEqual(["hello", "world"]);
  });

  test("that is written is shown at once, and once", async () => {
    await open();
    write("mine");
    expect(document.querySelector(".chat-sending .chat-body")?.textContent).toBe("mine");
    await vi.waitFor(() => expect(document.querySelector(".chat-sending")).toBeNull());
    expect([bubbles(), posted]).toEqual([["hello", "mine"], ["mine"]]);
  });

  test("that could not be sent stays with the reason, and can be sent again", async () => {
    post = () => Promise.reject(new TypeError("failed"));
    await open();
    write("mine");
    await vi.waitFor(() => expect(element(".chat-failed .chat-foot").textContent).toContain("Not sent: the server cannot be reached."));
    post = () => Promise.resolve({ id: "5", ts: "2026-01-01T10:00:00Z" });
    element(".chat-failed button").click();
    await vi.waitFor(() => expect(document.querySelector(".chat-failed")).toBeNull());
    expect(posted).toEqual(["mine", "mine"]);
  });

  test("that was read is marked", async () => {
    await open();
    write("mine");
    await vi.waitFor(() => expect(document.querySelector(".chat-sending")).toBeNull());
    listener?.receipts({ notified: "5", read: "5" });
    expect(element(".chat-receipt").getAttribute("aria-label")).toBe("Read by the agent");
  });
});

describe("an empty conversation", () => {
  test("suggests what to write, without sending it", async () => {
    earlier = () => Promise.resolve({ messages: [], has_earlier: false });
    await open();
    element(".chat-empty button").click();
    expect([element("textarea", HTMLTextAreaElement).value, posted]).toEqual(["Show me the TODOs of this project as a board.", []]);
  });

  test("suggests nothing where nothing can be written", async () => {
    earlier = () => Promise.resolve({ messages: [], has_earlier: false });
    await open({ footer: document.createElement("footer") });
    expect([element(".chat-empty").textContent, document.querySelector(".chat-empty button")]).toEqual(["No messages yetWhat you and your agents say appears here.", null]);
  });
});

describe("a problem", () => {
  test("is shown until it is over", async () => {
    await open();
    listener?.problem("The server cannot be reached.", 0);
    expect([element(".chat-notice").textContent, element(".chat-notice").hidden]).toEqual(["The server cannot be reached. Trying again…", false]);
    listener?.problem(null, 200);
    expect(element(".chat-notice").hidden).toBe(true);
  });

  test("of authentication shows the form once, and starts over when it was solved", async () => {
    let again: () => void = () => undefined;
    earlier = () => Promise.reject(new RequestError(401, "unauthorized", "Who are you?"));
    await open({
      signIn: (_, restart) => {
        again = restart;
        return document.createElement("form");
      },
    });
    const form = element(".chat-notice form");
    listener?.problem("Who are you?", 401);
    expect(element(".chat-notice form")).toBe(form);
    earlier = () => Promise.resolve({ messages: [message("1", "hello")], has_earlier: false });
    again();
    await vi.waitFor(() => expect(bubbles()).toEqual(["hello"]));
    expect([stopped, document.querySelector(".chat-notice form")]).toEqual([1, null]);
  });
});

test("a page that may only read has a footer instead of the field, and what the agent does", async () => {
  const footer = document.createElement("footer");
  footer.tabIndex = 0;
  const opened = await open({
    footer,
    follow: (changed, problem) => {
      changed(new Map([["1", [Object.assign(document.createElement("li"), { textContent: "called a tool" })]]]), { run: "running", writing: "Half a", waiting: "" });
      problem("No timeline.");
      return () => (stopped += 10);
    },
  });
  expect([document.querySelector("textarea"), element(".chat-messages").textContent]).toEqual([null, expect.stringContaining("called a tool")]);
  opened.focus();
  expect(document.activeElement).toBe(footer);
  opened.stop();
  expect(stopped).toBe(11);
});
