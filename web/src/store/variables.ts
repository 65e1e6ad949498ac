/** `window.uiStore`: the variables of scripts, and read access to those behind bindings. */
import type { Creation, Failure, Json, PageMessage, Update } from "../protocol";
import { markError } from "../view/error_mark";
import { MESSAGE_CREATE, MESSAGE_DESTROY, MESSAGE_UPDATE, PROPERTY_NOTICE, PROPERTY_VIEWDEFS } from "../wire.gen";

export interface Variable {
  varId: number;
  parentId: number;
  value: Json;
  properties: Record<string, string>;
}

export type Watcher = (variable: Variable, value: Json, properties: Record<string, string>) => void;

/** Finds the variable behind a binding by its negative id. */
export type Lookup = (id: number) => Variable | null;

export class Variables {
  private readonly known = new Map<number, Variable>();
  private readonly watchers = new Map<number, Set<Watcher>>();
  private last = 1;

  constructor(
    private readonly send: (message: PageMessage) => void,
    private readonly expanded: Lookup,
  ) {}

  get(id: number): Variable | null {
    return id < 0 ? this.expanded(id) : (this.known.get(id) ?? null);
  }

  /** Create a variable below `parentId` (by default the root) and return its id. */
  create(wanted: Partial<Creation> & { path?: string }): number {
    const { path, ...given } = wanted;
    this.last = Math.max(this.last + 1, given.id ?? 0);
    const id = given.id ?? this.last;
    const properties = { ...(path === undefined ? {} : { path }), ...given.properties };
    const parentId = given.parentId ?? 1;
    this.known.set(id, { varId: id, parentId, value: given.value ?? null, properties });
    this.send({ type: MESSAGE_CREATE, data: { ...given, id, parentId, properties } });
    return id;
  }

  update(id: number, value?: Json, properties?: Record<string, string>): void {
    const data: Update = { varId: id };
    if (value !== undefined) {
      data.value = value;
    }
    if (properties !== undefined) {
      data.properties = properties;
    }
    this.note(data, false);
    this.send({ type: MESSAGE_UPDATE, data });
  }

  destroy(id: number): void {
    this.forget(id);
    this.send({ type: MESSAGE_DESTROY, data: { varId: id } });
  }

  /** Call `act` with the present value, if there is one, and on every change. Return a function that stops it. */
  watch(id: number, act: Watcher): () => void {
    const all = this.watchers.get(id) ?? new Set();
    this.watchers.set(id, all.add(act));
    const variable = this.get(id);
    if (variable !== null && variable.value !== null) {
      act(variable, variable.value, variable.properties);
    }
    return () => void all.delete(act);
  }

  receive(update: Update): void {
    this.note(update, true);
  }

  fail({ varId, code, description }: Failure): void {
    const id = varId === undefined ? undefined : this.known.get(varId)?.properties["elementId"];
    const element = id === undefined ? null : document.getElementById(id);
    if (element !== null) {
      markError(element, code, description);
    }
  }

  forget(id: number): void {
    this.known.delete(id);
    this.watchers.delete(id);
  }

  /** Forget everything; ids are valid for one connection only. */
  reset(): void {
    this.known.clear();
    this.watchers.clear();
    this.last = 1;
  }

  private note({ varId, value, properties }: Update, notify: boolean): void {
    const variable = this.known.get(varId) ?? { varId, parentId: 0, value: null, properties: {} };
    this.known.set(varId, variable);
    if (value !== undefined) {
      variable.value = value;
    }
    for (const [name, text] of Object.entries(properties ?? {})) {
      if (text === "") {
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- scripts keep references to this object
        delete variable.properties[name];
      } else if (name !== PROPERTY_VIEWDEFS && name !== PROPERTY_NOTICE) {
        variable.properties[name] = text;
      }
    }
    if (notify) {
      this.watchers.get(varId)?.forEach((act) => act(variable, variable.value, variable.properties));
    }
  }
}
