/** The viewdefs this page has been sent, compiled when first needed. */
import { compile, type Template } from "../view/template";

export class Viewdefs {
  private readonly html = new Map<string, string>();
  private readonly compiled = new Map<string, Template>();

  /** Take a map of key to HTML, as JSON text. */
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
