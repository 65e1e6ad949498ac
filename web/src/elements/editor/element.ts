/** `ui-editor`: code or any text, to read or to edit, with CodeMirror. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { make, plainText, styleSheet } from "../base";
import { FieldElement } from "../field";
import { difference } from "./difference";
import { languageNamed } from "./languages";
import css from "./editor.css?inline";

const sheet = styleSheet(css);
const PAUSE_MS = 600;
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName], color: "var(--term-accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--term-success)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.attributeName], color: "var(--term-warning)" },
  { tag: [tags.comment, tags.meta], color: "var(--term-text-muted)", fontStyle: "italic" },
  { tag: [tags.heading, tags.strong], fontWeight: "bold" },
  { tag: tags.invalid, color: "var(--term-danger)" },
]);

class UiEditor extends FieldElement {
  protected readonly control = make("div.control");
  private readonly settings = new Compartment();
  private readonly grammar = new Compartment();
  private readonly view: EditorView;
  private language = "";
  private applied = "";
  private waiting = 0;
  private writing = false;

  constructor() {
    super(sheet);
    this.view = new EditorView({
      root: this.root,
      parent: this.control,
      extensions: [
        history(), drawSelection(), indentOnInput(), bracketMatching(), highlightSelectionMatches(), syntaxHighlighting(colours, { fallback: true }),
        keymap.of([{ key: "Mod-s", run: () => this.save() }, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap]),
        this.settings.of([]), this.grammar.of([]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !this.writing) {
            clearTimeout(this.waiting);
            this.waiting = window.setTimeout(() => this.give(), PAUSE_MS);
          }
        }),
      ],
    });
    this.box.append(this.control);
    this.whenLeft(() => this.give());
  }

  override focus(): void {
    this.view.focus();
  }

  /** What is written now; bindings compare it with what the server knows. */
  override get value(): unknown {
    return this.view.state.doc.toString();
  }

  override set value(next: unknown) {
    this.received(next);
  }

  protected override received(value: unknown): void {
    const text = plainText(value);
    const now = this.view.state.doc.toString();
    if (text !== now) {
      this.writing = true;
      this.view.dispatch({ changes: difference(now, text) });
      this.writing = false;
    }
    super.keep(text);
    this.draw();
  }

  private give(): void {
    clearTimeout(this.waiting);
    if (!this.hasAttribute("readonly")) {
      this.commit(this.value);
    }
  }

  private save(): boolean {
    this.give();
    this.tell("save", this.value);
    return true;
  }

  protected renderControl(): void {
    this.control.style.setProperty("--height", this.option("height", "18rem"));
    const label = this.option("label", "Text");
    const readonly = this.hasAttribute("readonly") || this.disabled;
    const wanted = JSON.stringify([label, readonly, this.hasAttribute("wrap"), this.option("lines"), this.control.getAttribute("aria-describedby"), this.option("placeholder")]);
    if (wanted !== this.applied) {
      this.applied = wanted;
      this.view.dispatch({ effects: this.settings.reconfigure(this.configured(label, readonly)) });
    }
    if (this.option("language") !== this.language) {
      this.language = this.option("language");
      void this.load(this.language);
    }
  }

  private configured(label: string, readonly: boolean): Extension[] {
    return [
      EditorState.readOnly.of(readonly),
      EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": String(readonly) }),
      this.hasAttribute("wrap") ? EditorView.lineWrapping : [],
      this.option("lines") === "off" ? [] : [lineNumbers(), foldGutter()],
      readonly ? [] : highlightActiveLine(),
    ];
  }

  private async load(language: string): Promise<void> {
    const found = await languageNamed(language);
    if (language === this.language) {
      this.view.dispatch({ effects: this.grammar.reconfigure(found ?? []) });
    }
  }
}

customElements.define("ui-editor", UiEditor);
