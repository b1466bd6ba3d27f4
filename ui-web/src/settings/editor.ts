// CodeMirror for the configuration file: a chunk of its own, loaded with the first look at it. It
// lives in a shadow root, where its style sheets are adopted ones, which the page's policy admits.
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, nextDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { offsetOf, wordEnd } from "./columns";
import { meaningOf, offersAt, type Meaning, type Offer, type Schema } from "./offers";
import { keyAt, placeOf } from "./place";

/** A problem with its place (from 1, in characters) and its words. */
export interface Mark {
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly warning: boolean;
}

export interface Told {
  readonly text: string;
  readonly label: string;
  /** What CodeMirror itself says, in the language in force. */
  readonly phrases: Readonly<Record<string, string>>;
  /** Words for what a key means when nothing is set. */
  readonly usual: (value: string) => string;
  readonly onText: (text: string) => void;
  readonly onSave: () => void;
}

export class Editor {
  private schema: Schema | null = null;
  private silent = false;
  private readonly view: EditorView;

  constructor(host: HTMLElement, private readonly told: Told) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.view = new EditorView({ root, parent: root, state: this.begun(told.text) });
  }

  destroy(): void {
    this.view.destroy();
  }

  focus(): void {
    this.view.focus();
  }

  learn(schema: Schema): void {
    this.schema = schema;
  }

  /** Another text: as one change that can be undone, or a new beginning (`anew`). */
  show(text: string, anew: boolean): void {
    if (text === this.view.state.doc.toString()) return;
    this.silent = true;
    if (anew) this.view.setState(this.begun(text));
    else this.view.dispatch({ changes: change(this.view.state.doc.toString(), text) });
    this.silent = false;
  }

  mark(marks: readonly Mark[]): void {
    const { doc } = this.view.state;
    const made = marks.map(({ line: number, column, text, warning }): Diagnostic => {
      const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
      const from = offsetOf(line.text, column);
      const to = wordEnd(line.text, from);
      return {
        from: line.from + from,
        to: line.from + to,
        severity: warning ? "warning" : "error",
        message: text,
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, made));
  }

  /** Put the cursor there, in the middle of what is seen. */
  jump(number: number, column: number): void {
    const { doc } = this.view.state;
    const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
    const at = line.from + offsetOf(line.text, column);
    this.view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: "center" }),
    });
    this.view.focus();
  }

  next(): void {
    nextDiagnostic(this.view);
    this.view.focus();
  }

  private begun(doc: string): EditorState {
    return EditorState.create({ doc, extensions: this.extensions() });
  }

  private extensions(): Extension {
    return [
      EditorState.phrases.of(this.told.phrases),
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      indentOnInput(),
      indentUnit.of("  "),
      closeBrackets(),
      yaml(),
      syntaxHighlighting(COLOURS),
      autocompletion({
        override: [(context) => this.complete(context)],
        icons: false,
        // It is there for lists that come late and under a key that was meant for the text; ours don't.
        interactionDelay: 0,
      }),
      hoverTooltip((view, position) => this.hover(view, position)),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": this.told.label, spellcheck: "false" }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged && !this.silent) this.told.onText(state.doc.toString());
      }),
      keymap.of([
        { key: "Mod-s", run: () => (this.told.onSave(), true), preventDefault: true },
        { key: "F8", run: nextDiagnostic },
        { key: "Tab", run: acceptCompletion },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      LOOK,
    ];
  }

  private complete(context: CompletionContext): CompletionResult | null {
    if (this.schema === null) return null;
    const { doc } = context.state;
    const line = doc.lineAt(context.pos);
    const lines = doc.toString().split("\n");
    const place = placeOf(lines, line.number - 1, context.pos - line.from);
    if (place === null) return null;
    if (!context.explicit && place.word === "" && place.of === "key" && !/^\s*- $/.test(line.text)) return null;
    const offers = offersAt(this.schema, place);
    if (offers.length === 0) return null;
    return {
      from: line.from + place.from,
      validFor: /^[\w-]*$/,
      options: offers.map((offer) => ({
        label: offer.label,
        detail: offer.detail,
        boost: offer.needed ? 1 : 0,
        info: () => this.explained(offer),
        apply: (view, _completion, from, to) => {
          const insert = offer.text.replaceAll("\n", `\n${" ".repeat(place.from)}`);
          view.dispatch({
            changes: { from, to, insert },
            selection: { anchor: from + insert.length },
            userEvent: "input.complete",
          });
        },
      })),
    };
  }

  private explained({ description }: Offer): Node | null {
    return description === "" ? null : element("p", "sk-meaning", description);
  }

  private hover(view: EditorView, position: number): { pos: number; end: number; create: () => { dom: HTMLElement } } | null {
    const line = view.state.doc.lineAt(position);
    const lines = view.state.doc.toString().split("\n");
    const key = keyAt(lines, line.number - 1, position - line.from);
    const meaning = key === null || this.schema === null ? null : meaningOf(this.schema, key.path);
    if (key === null || meaning === null) return null;
    const shown = this.told.usual;
    return {
      pos: line.from + key.from,
      end: line.from + key.to,
      create: () => ({ dom: meaningBox(meaning, shown) }),
    };
  }
}

/** The smallest change from one text to another: what is around it keeps its marks and the cursor. */
function change(before: string, after: string): { from: number; to: number; insert: string } {
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let end = 0;
  const most = Math.min(before.length, after.length) - from;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

function meaningBox(meaning: Meaning, usual: (value: string) => string): HTMLElement {
  const box = element("div", "sk-hover", "");
  const head = element("p", "sk-hover-head", "");
  head.append(element("strong", "", meaning.key), " ", element("span", "sk-quiet", meaning.detail));
  box.append(head, element("p", "", meaning.description));
  if (meaning.default !== null) box.append(element("p", "sk-quiet", usual(meaning.default)));
  return box;
}

function element(tag: string, name: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  if (name !== "") made.className = name;
  made.textContent = text;
  return made;
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent-fg)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--add-fg)" },
  { tag: [tags.lineComment, tags.comment], color: "var(--muted)" },
  { tag: [tags.keyword, tags.bool, tags.null, tags.number, tags.typeName], color: "var(--busy)" },
  { tag: [tags.invalid], color: "var(--err)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--bg)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "0" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--surface) 60%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-bg)",
  },
  ".cm-tooltip": {
    border: "1px solid var(--border)",
    borderRadius: "6px",
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip p": { margin: "0" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-bg)",
    color: "var(--accent-fg)",
  },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", fontSize: "12px" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionInfo": { padding: "8px", maxWidth: "320px", fontFamily: "var(--font)" },
  ".sk-hover": { padding: "8px 12px", maxWidth: "400px", fontFamily: "var(--font)", lineHeight: "1.5" },
  ".sk-quiet": { color: "var(--muted)", fontSize: "12px" },
  ".cm-diagnostic": { fontFamily: "var(--font)", padding: "4px 8px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--err)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--busy)" },
});
