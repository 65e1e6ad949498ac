import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RequestError } from "../../../src/person/client";
import { type Device, deviceNotices, followNotifications, linkFromAddress, questionOf } from "../../../src/person/phone/device";
import { buttonIn } from "../approval";

const device: Device = { name: "Ann’s phone", push: false, push_key: "BKey" };
const made = { endpoint: "https://push.example/1", keys: { p256dh: "p", auth: "a" } };

let permission: NotificationPermission;
let steps: unknown[];
let kept: { unsubscribe: () => Promise<boolean> } | null;
let refusal: Error | null;
let registering: Promise<void>;

const fetcher = (path: string, options: RequestInit = {}): Promise<Response> => {
  steps.push([options.method, path, JSON.parse(options.body as string)]);
  return refusal ? Promise.reject(refusal) : Promise.resolve(new Response('{"id": "q1"}'));
};

/** A service worker with push messages, which happy-dom has not. */
class FakeWorker extends EventTarget {
  readonly ready = Promise.resolve({
    pushManager: {
      getSubscription: () => Promise.resolve(kept),
      subscribe: (options: unknown) => {
        steps.push(["subscribe", options]);
        return Promise.resolve({ toJSON: () => made });
      },
    },
  });
  register(path: string): Promise<void> {
    steps.push(["register", path]);
    return registering;
  }
}

const subscription = (): typeof kept => ({
  unsubscribe: () => {
    steps.push("unsubscribe");
    return Promise.resolve(true);
  },
});

function open(more: Partial<Device> = {}): HTMLElement {
  const element = deviceNotices(fetcher, { ...device, ...more });
  document.body.replaceChildren(element);
  return element;
}

async function press(element: HTMLElement, text: string): Promise<void> {
  const pressed = buttonIn(element, text);
  steps = [];
  pressed.click();
  expect(pressed.disabled).toBe(true);
  await vi.waitFor(() => expect(pressed.disabled).toBe(false));
}

/** What is offered, what is said, and what went wrong. */
const shownBy = (element: HTMLElement): unknown => [
  [...element.querySelectorAll("button")].filter((one) => !one.hidden).map((one) => one.textContent),
  element.querySelector("[role=status]")?.textContent,
  element.querySelector("[role=alert]")?.textContent,
];

const isOff = [["Notify this phone"], "", ""];
const isOn = [["Turn notifications off"], "This phone is told of new questions.", ""];

beforeEach(() => {
  [permission, steps, kept, refusal, registering] = ["granted", [], null, null, Promise.resolve()];
  vi.stubGlobal("navigator", { serviceWorker: new FakeWorker() });
  vi.stubGlobal("PushManager", vi.fn());
  vi.stubGlobal("Notification", { requestPermission: () => Promise.resolve(permission) });
});

afterEach(() => {
  vi.unstubAllGlobals();
  history.replaceState(null, "", location.pathname);
});

describe("notifications of a phone", () => {
  test("are offered with what the push service gets to know", () => {
    const element = open();
    expect([shownBy(element), steps]).toEqual([isOff, [["register", "/service-worker.js"]]]);
    expect(element.textContent).toContain("the service sees when one is sent, not what it says");
  });

  test("that are on can be turned off", () => {
    expect(shownBy(open({ push: true }))).toEqual(isOn);
  });

  test.each(["worker", "push"])("are not offered by a browser without %s", (missing) => {
    vi.unstubAllGlobals();
    if (missing === "push") vi.stubGlobal("navigator", { serviceWorker: new FakeWorker() });
    const element = open();
    expect([element.querySelector("button"), steps]).toEqual([null, []]);
    expect(element.textContent).toContain("add this page to the home screen");
  });

  test("whose service worker cannot be had say why", async () => {
    registering = Promise.reject(new Error("The certificate is not trusted"));
    const element = open();
    await vi.waitFor(() => expect(element.querySelector("[role=alert]")?.textContent).toBe("The certificate is not trusted"));
  });

  test("are turned on with the key of the server, which gets the subscription", async () => {
    const element = open();
    await press(element, "Notify this phone");
    expect(steps).toEqual([["subscribe", { userVisibleOnly: true, applicationServerKey: "BKey" }], ["PUT", "/push", made]]);
    expect(shownBy(element)).toEqual(isOn);
  });

  test("replace a subscription for another key", async () => {
    kept = subscription();
    await press(open(), "Notify this phone");
    expect(steps.map((step) => (Array.isArray(step) ? (step as unknown[])[0] : step))).toEqual(["unsubscribe", "subscribe", "PUT"]);
  });

  test.each(["denied", "default"] as const)("stay off where the browser says %s", async (answer) => {
    permission = answer;
    const element = open();
    await press(element, "Notify this phone");
    expect([shownBy(element), steps]).toEqual([[["Notify this phone"], "", "Your browser does not allow notifications for this page; its settings for the page change that."], []]);
  });

  test("stay off if the server refuses the subscription, until it takes it", async () => {
    refusal = new RequestError(400, "bad_endpoint", "This push service is unknown.");
    const element = open();
    await press(element, "Notify this phone");
    expect(shownBy(element)).toEqual([["Notify this phone"], "", "This push service is unknown."]);
    refusal = null;
    await press(element, "Notify this phone");
    expect(shownBy(element)).toEqual(isOn);
  });

  test.each([
    ["the server and the browser", true, [["DELETE", "/push", {}], "unsubscribe"]],
    ["the server alone if the browser has none", false, [["DELETE", "/push", {}]]],
  ])("are turned off at %s", async (_, isKept, expected) => {
    kept = isKept ? subscription() : null;
    const element = open({ push: true });
    await press(element, "Turn notifications off");
    expect([steps, shownBy(element)]).toEqual([expected, isOff]);
  });

  test("stay on if the server cannot be reached", async () => {
    [kept, refusal] = [subscription(), new TypeError("failed to fetch")];
    const element = open({ push: true });
    await press(element, "Turn notifications off");
    expect([shownBy(element), steps.includes("unsubscribe")]).toEqual([[["Turn notifications off"], "This phone is told of new questions.", "The server cannot be reached."], false]);
  });
});

describe("the link of a notification", () => {
  const touch = (link: string): boolean => navigator.serviceWorker.dispatchEvent(new MessageEvent("message", { data: { link } }));

  test("leaves the address", () => {
    history.replaceState(null, "", "/inbox?a=1#link=s3cret");
    expect([linkFromAddress(), location.hash, location.search, linkFromAddress()]).toEqual(["s3cret", "", "?a=1", ""]);
  });

  test("leaves another address alone", () => {
    history.replaceState(null, "", "/inbox#code=AAAA");
    expect([linkFromAddress(), location.hash]).toEqual(["", "#code=AAAA"]);
  });

  test("is followed on a page that is open, until that ends", () => {
    const end = followNotifications();
    touch("#link=one");
    touch("");
    expect(location.hash).toBe("#link=one");
    end();
    touch("#link=two");
    expect(location.hash).toBe("#link=one");
  });

  test("is not waited for without a service worker", () => {
    vi.stubGlobal("navigator", {});
    expect(followNotifications()).not.toThrow();
  });

  test("leads to its question", async () => {
    expect(await questionOf(fetcher, "s3cret")).toBe("q1");
    expect(JSON.stringify(steps)).toBe('[["POST","/notices/open",{"link":"s3cret"}]]');
  });
});
