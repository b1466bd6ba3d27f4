// The key to the gateway: it comes in the address's fragment, which no server ever sees, moves to
// localStorage, and leaves the address bar.

const KEY = "sk.token";

/** The token of the address, now kept; else the one kept before; else `null`. */
export function takeToken(
  location: Location,
  history: History,
  storage: Storage,
): string | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("t");
  if (token !== null && token !== "") {
    storage.setItem(KEY, token);
    fragment.delete("t");
    const rest = fragment.get("c");
    const hash = rest === null ? "" : `#/c/${encodeURIComponent(rest)}`;
    history.replaceState(null, "", `${location.pathname}${hash}`);
  }
  return storage.getItem(KEY);
}

/** Tell `heard` when another tab was given a token. */
export function onToken(heard: (token: string) => void): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY && newValue !== null) heard(newValue);
  });
}
