import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RequestError } from "../../../src/person/client";
import { type Phone, phones, type Phones } from "../../../src/person/phone/phones";
import { buttonIn } from "../approval";

const ann: Phone = { id: "p1", name: "Ann’s phone", url: "https://ann.example", paired_at: 1_700_000_000, used_at: 1_700_086_400, push: true };
const tablet: Phone = { ...ann, id: "p2", name: "Tablet", push: false };

let url: string | null;
let devices: Phone[];
let refusal: Error | null;
let sent: string[];
let shown: Phones;

const fetcher = (path: string, options: RequestInit = {}): Promise<Response> => {
  sent.push(`${options.method ?? "GET"} ${path}`);
  if (refusal) return Promise.reject(refusal);
  if (path === "/phones/pair") {
    return Promise.resolve(new Response(JSON.stringify({ code: "AAAA-BBBB", link: "https://ann.example/#code=AAAA-BBBB", qr: "data:image/svg+xml,qr", seconds: 60 })));
  }
  devices = devices.filter((one) => path !== `/phones/${one.id}/revoke`);
  return Promise.resolve(new Response(JSON.stringify({ url, devices })));
};

const wait = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const textOf = (selector: string): string | null | undefined => shown.element.querySelector(selector)?.textContent;
const partOf = (selector: string): HTMLElement => {
  const found = shown.element.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`no ${selector}`);
  return found;
};
const press = async (text: string): Promise<void> => {
  buttonIn(shown.element, text).click();
  await wait();
};
/** Whether a code is shown, and whether the button that asks for one is hidden. */
const isPairing = (): readonly unknown[] => [!partOf(".phone-pairing").hidden, buttonIn(shown.element, "Pair a phone").hidden];

async function unfold(isOpen = true): Promise<void> {
  shown.element.toggleAttribute("open", isOpen);
  await wait();
}

beforeEach(() => {
  vi.useFakeTimers();
  [url, devices, refusal, sent] = ["https://ann.example", [ann], null, []];
  shown = phones(fetcher);
  document.body.replaceChildren(shown.element);
});

afterEach(() => {
  shown.stop();
  vi.useRealTimers();
});

describe("the list of phones", () => {
  test("is asked for only when it is unfolded", async () => {
    await wait();
    expect(sent).toEqual([]);
    await unfold();
    await unfold(false);
    expect(sent).toEqual(["GET /phones"]);
  });

  test("without an address says what is missing, and offers no pairing", async () => {
    [url, devices] = [null, []];
    await unfold();
    expect(textOf(".phone-dim")).toContain("set phone.url in config.toml");
    expect(buttonIn(shown.element, "Pair a phone").hidden).toBe(true);
  });

  test("names each phone with its days and whether it is notified", async () => {
    devices = [ann, tablet];
    await unfold();
    expect(textOf(".phone-dim")).toContain("at https://ann.example.");
    expect([...shown.element.querySelectorAll("li")].map((row) => [row.querySelector("strong")?.textContent, /notifications (on|off)/.exec(row.textContent)?.[1]])).toEqual([["Ann’s phone", "on"], ["Tablet", "off"]]);
    const day = (seconds: number): string => new Date(seconds * 1000).toLocaleDateString([], { dateStyle: "medium" });
    expect(textOf("li .phone-dim")).toContain(`paired ${day(1_700_000_000)} · last used ${day(1_700_086_400)}`);
  });

  test("that cannot be read says why", async () => {
    refusal = new TypeError("failed to fetch");
    await unfold();
    expect(textOf("[role=alert]")).toBe("The server cannot be reached.");
  });
});

describe("pairing", () => {
  test("shows a QR code and the code to type, and offers no second one meanwhile", async () => {
    await unfold();
    await press("Pair a phone");
    expect([shown.element.querySelector("img")?.getAttribute("src"), textOf(".phone-code")]).toEqual(["data:image/svg+xml,qr", "AAAA-BBBB"]);
    expect([isPairing(), sent.includes("POST /phones/pair")]).toEqual([[true, true], true]);
  });

  test("that is cancelled leaves no code, and asks the server no more", async () => {
    await unfold();
    await press("Pair a phone");
    await press("Cancel");
    const asked = sent.length;
    await wait(10_000);
    expect([isPairing(), shown.element.querySelector("code"), textOf("[role=status]"), sent.length]).toEqual([[false, false], null, "", asked]);
  });

  test("ends when a phone has paired, which is announced by name", async () => {
    await unfold();
    await press("Pair a phone");
    await wait(2000);
    expect(isPairing()).toEqual([true, true]);
    devices = [ann, tablet];
    await wait(2000);
    expect([isPairing(), textOf("[role=status]"), shown.element.querySelectorAll("li").length]).toEqual([[false, false], "Paired: Tablet.", 2]);
  });

  test("ends when the code is too old", async () => {
    await unfold();
    await press("Pair a phone");
    await wait(59_000);
    expect(isPairing()).toEqual([true, true]);
    await wait(4000);
    expect([isPairing(), textOf("[role=status]")]).toEqual([[false, false], "That code is too old now."]);
  });

  test("goes on after a poll that failed", async () => {
    await unfold();
    await press("Pair a phone");
    refusal = new TypeError("failed to fetch");
    await wait(2000);
    expect(textOf("[role=alert]")).toBe("The server cannot be reached.");
    [refusal, devices] = [null, [ann, tablet]];
    await wait(2000);
    expect(textOf("[role=status]")).toBe("Paired: Tablet.");
  });

  test("that is refused says why, until it is tried again", async () => {
    await unfold();
    refusal = new RequestError(429, "too_many", "Too many codes; wait a minute.");
    await press("Pair a phone");
    expect([textOf("[role=alert]"), isPairing()]).toEqual(["Too many codes; wait a minute.", [false, false]]);
    refusal = null;
    await press("Pair a phone");
    expect([textOf("[role=alert]"), isPairing()]).toEqual(["", [true, true]]);
  });

  test("asks the server no more once the page has gone", async () => {
    await unfold();
    await press("Pair a phone");
    shown.stop();
    const asked = sent.length;
    await wait(10_000);
    expect(sent.length).toBe(asked);
  });
});

describe("removing a phone", () => {
  test("takes it off the list and says so", async () => {
    devices = [ann, tablet];
    await unfold();
    partOf("[aria-label^='Remove Tablet, paired']").click();
    await wait();
    expect([sent.at(-1), shown.element.querySelectorAll("li").length, textOf("[role=status]")]).toEqual(["POST /phones/p2/revoke", 1, "Removed: Tablet. It can answer nothing any more."]);
  });

  test("that fails says why and reads the list again", async () => {
    await unfold();
    refusal = new RequestError(404, "not_found", "There is no such phone.");
    await press("Remove");
    expect([textOf("[role=alert]"), sent.slice(1)]).toEqual(["There is no such phone.", ["POST /phones/p1/revoke", "GET /phones"]]);
  });
});

test("an error of one reading is gone after the next, and nothing is read after the end", async () => {
  await unfold();
  await press("Pair a phone");
  refusal = new RequestError(500, "error", "Busy.");
  await wait(2000);
  expect(textOf(".phone-problem")).toBe("Busy.");
  refusal = null;
  await wait(2000);
  expect(textOf(".phone-problem")).toBe("");
  const last = wait(2000);
  shown.stop();
  await last;
  const count = sent.length;
  await wait(10_000);
  expect(sent.length).toBe(count);
});
