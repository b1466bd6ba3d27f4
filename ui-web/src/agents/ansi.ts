// Terminal output as plain text. Knows escape sequences, draws nothing.

// CSI and OSC sequences, two-character escapes, and the control characters that draw nothing.
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

export function plainText(text: string): string {
  return text.replace(SEQUENCES, "");
}

/** A line that rewrote itself (a progress bar) as it stood last. */
export function plainLine(line: string): string {
  const last = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  return plainText(last);
}
