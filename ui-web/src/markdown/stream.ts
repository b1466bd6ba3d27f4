// Writes a growing Markdown text into an element, at a cost that doesn't grow with it: blocks that
// are complete are drawn once and then left alone, only the tail is drawn again.
//
// A block is frozen on complete lines only, once another block has begun after it. Inside an open
// fence nothing is parsed: characters go into one text node. When the text is done it is drawn
// once more from the whole, which also resolves reference links; nodes that come out the same stay.
// Of a long text that takes a while: it is done in pieces, and whoever types meanwhile is heard.
import type { Token } from "marked";
import { blocks, rendered, renderedInPieces } from "./render";

interface Fence {
  readonly closing: RegExp;
  /** Where its opening line begins in the source. */
  readonly start: number;
  readonly code: Text;
  /** Where the line begins that isn't complete yet, and how much is in the text node. */
  line: number;
  shown: number;
}

/** A line that may yet become the closing fence is held back. */
const MAY_CLOSE = /^ {0,3}[`~]*[ \t]*$/;

/** The opening line of a fence, with its marker. */
const OPENING = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/;

/** Characters of a long text that are drawn for the last time in one go. */
const PIECE = 4_000;
/** So many milliseconds at a time. */
const AT_A_TIME = 12;

export class StreamWriter {
  private source = "";
  /** Characters of the source whose blocks are frozen. */
  private frozen = 0;
  private fence: Fence | null = null;
  private finished = false;
  /** Counts what was begun: of two at work, the later one goes on. */
  private runs = 0;
  private readonly tail = document.createElement("div");

  constructor(private readonly root: HTMLElement) {
    this.tail.className = "md-tail";
    root.replaceChildren(this.tail);
  }

  /** Show `text`, which usually continues what was shown. */
  write(text: string): void {
    this.runs++;
    if (this.finished || !text.startsWith(this.source)) this.restart();
    if (text === this.source) return;
    this.source = text;
    if (this.fence === null && this.selected()) return; // a later write draws what is held now
    while (this.fence !== null ? this.fenced(this.fence) : this.freeze());
  }

  /** Show `text` as it will stay: at once, but for what has grown here, which is all there already. */
  async finish(text: string): Promise<void> {
    const grown = this.source !== "" && !this.finished && text.length > PIECE;
    if (grown) this.write(text);
    const run = ++this.runs;
    this.finished = true;
    this.root.append(...this.tail.childNodes);
    this.tail.remove();
    this.root.ariaBusy = grown ? "true" : null;
    let began = performance.now();
    let count = 0;
    for (const nodes of renderedInPieces(text, grown ? PIECE : Infinity)) {
      for (const node of nodes) this.settle(node, count++);
      if (!grown || performance.now() - began < AT_A_TIME) continue;
      await new Promise((goOn) => setTimeout(goOn));
      if (run !== this.runs) return;
      began = performance.now();
    }
    while (this.root.childNodes.length > count) this.root.lastChild?.remove();
    this.root.ariaBusy = null;
  }

  /** Have this node at its place; one that is the same stays as it is. */
  private settle(node: ChildNode, index: number): void {
    const there = this.root.childNodes[index];
    if (there === undefined) this.root.append(node);
    else if (!there.isEqualNode(node)) there.replaceWith(node);
  }

  private restart(): void {
    this.root.ariaBusy = null;
    this.source = "";
    this.frozen = 0;
    this.fence = null;
    this.finished = false;
    this.root.replaceChildren(this.tail);
  }

  /** Redrawing would destroy what the reader has selected. */
  private selected(): boolean {
    const selection = document.getSelection();
    if (selection === null || selection.isCollapsed) return false;
    return selection.getRangeAt(0).intersectsNode(this.tail);
  }

  /** Freeze the blocks that are over and draw the rest. True when a fence has opened. */
  private freeze(): boolean {
    const lines = this.source.slice(this.frozen, this.source.lastIndexOf("\n") + 1);
    const tokens = lines === "" ? [] : blocks(lines);
    const last = tokens.findLastIndex((token) => token.type !== "space");
    const block = tokens[last];
    const fence = block === undefined ? null : fenceOf(block);
    const complete = tokens.slice(0, fence?.closed === true ? last + 1 : Math.max(last, 0));
    const over = complete.reduce((sum, { raw }) => sum + raw.length, 0);
    if (over > 0) {
      this.tail.before(rendered(lines.slice(0, over)));
      this.frozen += over;
    }
    const open = fence?.closed === false ? fence.opening : null;
    if (open === null) {
      const rest = this.source.slice(this.frozen);
      this.tail.replaceChildren(rendered(rest, { colours: false }));
      return false;
    }
    this.begin(open, this.frozen);
    return true;
  }

  private begin(open: RegExpExecArray, start: number): void {
    const [line, marker = ""] = open;
    const shell = rendered(`${line}${marker}\n`, { colours: false });
    const code = document.createTextNode("");
    shell.querySelector("code")?.replaceChildren(code);
    this.tail.replaceChildren(shell);
    const begin = start + line.length;
    this.fence = { closing: closingOf(marker), start, code, line: begin, shown: begin };
  }

  /** Append to the open code block. True when it was closed. */
  private fenced(fence: Fence): boolean {
    const { source } = this;
    for (;;) {
      const end = source.indexOf("\n", fence.line);
      const line = source.slice(fence.line, end < 0 ? undefined : end);
      if (end < 0) {
        if (MAY_CLOSE.test(line)) return false;
        fence.code.appendData(source.slice(fence.shown));
        fence.shown = source.length;
        return false;
      }
      if (fence.closing.test(line)) {
        this.tail.before(rendered(source.slice(fence.start, end + 1)));
        this.tail.replaceChildren();
        this.frozen = end + 1;
        this.fence = null;
        return true;
      }
      fence.code.appendData(source.slice(fence.shown, end + 1));
      fence.shown = fence.line = end + 1;
    }
  }
}

/** The opening line of a fenced code block, and whether its closing line is there. */
function fenceOf(block: Token): { opening: RegExpExecArray; closed: boolean } | null {
  if (block.type !== "code") return null;
  const opening = OPENING.exec(block.raw);
  if (opening === null) return null;
  const closing = closingOf(opening[1] ?? "");
  const lines = block.raw.slice(opening[0].length).split("\n");
  return { opening, closed: lines.some((line) => closing.test(line)) };
}

function closingOf(marker: string): RegExp {
  return new RegExp(`^ {0,3}${marker[0]}{${marker.length},}[ \t]*$`);
}
