import { expect, test } from "vitest";
import { sessionOf } from "../src/session";

test("the session is named by the first part of the path", () => {
  const secret = "0123456789abcdef0123456789abcdef";
  expect(sessionOf("/", document).address).toBe("1");
  expect(sessionOf("/2/any", document)).toEqual({ address: "2", number: "2" });
  expect(sessionOf(`/${secret}/x`, document)).toEqual({ address: secret, number: "1" });
  expect(sessionOf("/variables", document).address).toBe("1");
});

test("its number comes from the page where the server has written it", () => {
  document.head.innerHTML = '<meta name="ui-session" content="7">';
  expect(sessionOf("/0123456789abcdef0123456789abcdef/", document).number).toBe("7");
  document.head.innerHTML = "";
});
