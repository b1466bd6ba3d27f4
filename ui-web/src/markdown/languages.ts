// Code in colours: highlight.js with the languages agents write most. Returns HTML as a string,
// which still has to pass the sanitiser. A quarter of the page's weight: `highlight` fetches it.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash, c, cpp, css, diff, dockerfile, go, ini, java, javascript, json, makefile, markdown, php,
  python, ruby, rust, sql, typescript, xml, yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** 76 kB took 38 ms: above this, colours cost more than they help. */
const LONGEST = 100_000;

/** `code` as HTML with `hljs-*` classes, or `null` where it stays as it is. */
export function highlighted(code: string, name: string): string | null {
  if (code.length > LONGEST || hljs.getLanguage(name) === undefined) return null;
  return hljs.highlight(code, { language: name, ignoreIllegals: true }).value;
}
