/** All bindings, by the name of their attribute. */
import type { Binding } from "./binding";

const modules = import.meta.glob<Record<string, unknown>>(["./*.ts", "!./index.ts", "!./binding.ts", "!./fields.ts", "!./caret.ts", "!./known.ts"], { eager: true });

const bindings = Object.values(modules)
  .flatMap((module) => Object.values(module))
  .filter((found): found is Binding => typeof found === "object" && found !== null && "bind" in found)
  .sort((a, b) => b.attribute.length - a.attribute.length);

/** Find the binding of an attribute, and what follows its prefix. */
export function bindingFor(attribute: string): { binding: Binding; argument: string } | null {
  for (const binding of bindings) {
    const { attribute: name } = binding;
    if (name.endsWith("-") ? attribute.startsWith(name) && attribute.length > name.length : attribute === name) {
      return { binding, argument: attribute.slice(name.length) };
    }
  }
  return null;
}
