/** The viewdefs sent to this page, compiled on first use. */
import { compile, type Template } from "../view/template";

export class Viewdefs {
  private readonly html = new Map<string, string>();
  private readonly compiled = new Map<string, Template>();

  /** Add viewdefs from a JSON object of HTML by key. */
  receive(json: string): void {
    for (const [key, html] of Object.entries(JSON.parse(json) as Record<string, string>)) {
      this.html.set(key, html);
      this.compiled.delete(key);
    }
  }

  get(key: string): Template | undefined {
    const ready = this.compiled.get(key);
    if (ready !== undefined) {
      return ready;
    }
    const html = this.html.get(key);
    if (html === undefined) {
      return undefined;
    }
    const template = compile(key, html);
    this.compiled.set(key, template);
    return template;
  }

  has(key: string): boolean {
    return this.html.has(key);
  }

  keys(): string[] {
    return [...this.html.keys()];
  }
}
