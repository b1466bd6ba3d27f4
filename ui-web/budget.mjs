// Prints what the first load of the built page weighs, and the editor of the settings, which comes
// later; fails when either is more than agreed.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const BUDGET = 110_000;
const EDITOR = 150_000;
const built = fileURLToPath(new URL("../services/sk_gateway/static/", import.meta.url));
const page = readFileSync(`${built}index.html`, "utf8");
const first = readdirSync(`${built}assets`).filter((name) => page.includes(name));
const scripts = first.filter((name) => name.endsWith(".js"));
if (scripts.length === 0) throw new Error(`${built} has no script that its index.html names`);
const weight = (names) =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(`${built}assets/${name}`)).length, 0);
const js = weight(scripts);
const css = weight(first.filter((name) => name.endsWith(".css")));
console.log(`first load: ${js} bytes of JavaScript, ${css} of CSS (gzip); at most ${BUDGET}`);
const editor = readdirSync(`${built}assets`).filter((name) => /^editor-.*\.js$/.test(name));
if (editor.length !== 1) throw new Error(`${built} has not one chunk for the editor: ${editor}`);
const later = weight(editor);
console.log(`settings' editor: ${later} bytes of JavaScript (gzip); at most ${EDITOR}`);
if (js > BUDGET || later > EDITOR) process.exit(1);
