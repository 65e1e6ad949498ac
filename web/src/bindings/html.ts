/** `ui-html="path"`: the value is the element's inner HTML; with `?replace` it takes the element's place. */
import { vendId } from "../view/ids";
import { type Binding, type Bound, type Context, readOnly, textOf } from "./binding";

export const html: Binding = {
  attribute: "ui-html",
  access: readOnly,
  bind(context) {
    return context.text.options.has("replace") ? replacing(context) : inside(context);
  },
};

function inside({ element }: Context): Bound {
  return {
    write(value) {
      element.innerHTML = value === null ? "" : textOf(value);
    },
  };
}

function replacing({ element, replaced }: Context): Bound {
  const id = element.id;
  let current: ChildNode[] = [element];
  return {
    write(value) {
      const next = nodesOf(value === null ? "" : textOf(value), id);
      const [first, ...rest] = current;
      first?.replaceWith(...next);
      rest.forEach((node) => node.remove());
      current = next;
      replaced(next);
    },
  };
}

function nodesOf(text: string, id: string): ChildNode[] {
  const parser = document.createElement("template");
  parser.innerHTML = text;
  const { content } = parser;
  if (content.children.length === 0) {
    const span = document.createElement("span");
    span.append(content);
    span.hidden = text.trim() === "";
    span.id = id;
    return [span];
  }
  [...content.children].forEach((element, index) => {
    element.id = index === 0 ? id : element.id || vendId();
  });
  return [...content.childNodes];
}
