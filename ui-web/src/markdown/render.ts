// Markdown to DOM nodes, safely: raw HTML is shown as text, images become links, and what marked
// and highlight.js write passes DOMPurify, whose Trusted Types policy is the page's only one.
import DOMPurify, { type Config } from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import { t } from "../i18n/translate";
import { withColours } from "./highlight";

const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;

const CONFIG = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["align", "class", "href", "start"],
  ALLOWED_URI_REGEXP: SAFE_LINK,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} satisfies Config;

const OURS = /^(?:language-[\w+#.-]+|hljs[\w-]*|raw)$/;

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  const classes = [...node.classList].filter((name) => OURS.test(name));
  if (classes.length > 0) node.setAttribute("class", classes.join(" "));
  else node.removeAttribute("class");
  if (node.tagName === "A" && node.hasAttribute("href")) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
});

const ESCAPES: Record<string, string> = {
  "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

function link(href: string, inner: string): string {
  return SAFE_LINK.test(href) ? `<a href="${escaped(href)}">${inner}</a>` : inner;
}

function dialect(breaks: boolean): Marked {
  return new Marked({
    gfm: true,
    breaks,
    renderer: {
      html(token: Tokens.HTML | Tokens.Tag): string {
        const text = escaped(token.text.replace(/\n+$/, ""));
        return token.type === "html" && token.block === true
          ? `<p class="raw">${text}</p>\n`
          : text;
      },
      image({ href, text }: Tokens.Image): string {
        return link(href, escaped(text === "" ? href : text));
      },
      link({ href, tokens }: Tokens.Link): string {
        return link(href, this.parser.parseInline(tokens));
      },
      checkbox({ checked }: Tokens.Checkbox): string {
        return checked ? "☑ " : "☐ ";
      },
    },
  });
}

/** What agents write; what a person writes keeps its line breaks. */
const AGENTS = dialect(false);
const PEOPLE = dialect(true);

/** The top-level blocks of `text`; their `raw`s joined are `text`. */
export function blocks(text: string): Token[] {
  return AGENTS.lexer(text);
}

/** `text` as nodes. `colours` false leaves code plain, for what will be drawn again at once. */
export function rendered(
  text: string,
  { colours = true, breaks = false }: { colours?: boolean; breaks?: boolean } = {},
): DocumentFragment {
  const marked = breaks ? PEOPLE : AGENTS;
  return drawn(marked.parser(marked.lexer(text)), colours);
}

/** The nodes of `rendered(text)` in their order, in pieces: of each about so many characters. */
export function* renderedInPieces(text: string, characters: number): Generator<ChildNode[]> {
  let piece: Token[] = [];
  let length = 0;
  // All is lexed first: only then is it known where the links by reference lead.
  for (const token of blocks(text)) {
    piece.push(token);
    length += token.raw.length;
    if (length < characters) continue;
    yield [...drawn(AGENTS.parser(piece), true).childNodes];
    piece = [];
    length = 0;
  }
  yield [...drawn(AGENTS.parser(piece), true).childNodes];
}

function drawn(html: string, colours: boolean): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, CONFIG);
  for (const block of fragment.querySelectorAll(BLOCKS)) block.setAttribute("dir", "auto");
  for (const code of fragment.querySelectorAll("code, pre")) code.setAttribute("dir", "ltr");
  for (const pre of fragment.querySelectorAll("pre")) dressed(pre, colours);
  for (const table of fragment.querySelectorAll("table")) boxed(table);
  return fragment;
}

/**
 * Each block has the direction of its own first letter. Code always runs from left to right, and
 * having a direction of its own it doesn't decide that of the text around it.
 */
const BLOCKS = "p, li, ul, ol, blockquote, table, th, td, h1, h2, h3, h4, h5, h6";

/** A code block with its copy button, and in colours. */
function dressed(pre: HTMLPreElement, colours: boolean): void {
  const code = pre.querySelector("code");
  if (code === null) return;
  const name = /language-(\S+)/.exec(code.className)?.[1] ?? "";
  if (colours && name !== "") {
    withColours(code, (highlighted) => {
      const html = highlighted(code.textContent, name);
      if (html !== null) code.replaceChildren(DOMPurify.sanitize(html, CONFIG));
    });
  }
  pre.tabIndex = 0;
  const box = document.createElement("div");
  box.className = "code";
  pre.replaceWith(box);
  box.append(pre, copyButton(name));
}

function copyButton(name: string): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "code-bar";
  const label = document.createElement("span");
  label.textContent = name;
  bar.append(label);
  if (globalThis.isSecureContext === false) return bar; // such a page has no clipboard
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-copy";
  button.textContent = t("code.copy");
  button.setAttribute("aria-label", t("code.label"));
  bar.append(button);
  return bar;
}

/** Tables scroll in their own box, so that the page never scrolls sideways. */
function boxed(table: HTMLTableElement): void {
  const box = document.createElement("div");
  box.className = "table";
  box.tabIndex = 0;
  table.replaceWith(box);
  box.append(table);
}
