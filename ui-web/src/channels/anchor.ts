// Where a message stands on the screen, so that it can stand there again after others came or went.

export interface Anchor {
  readonly id: string;
  readonly top: number;
}

export function rowOf(list: HTMLElement | null, id: string): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-message="${CSS.escape(id)}"]`) ?? null;
}

/** The first row that reaches into view, and where its top is. */
export function firstVisible(list: HTMLElement | null): Anchor | null {
  if (list === null) return null;
  const { top } = list.getBoundingClientRect();
  for (const row of list.querySelectorAll<HTMLElement>("[data-message]")) {
    const box = row.getBoundingClientRect();
    if (box.bottom > top) return { id: row.dataset["message"] ?? "", top: box.top };
  }
  return null;
}
