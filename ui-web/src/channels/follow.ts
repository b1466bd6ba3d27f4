// Whether a list follows its end. Only the reader lets go, by scrolling up; only the reader, or a
// message of his own, takes hold again. Distance alone would lose the end: scroll events come late.
import { signal } from "@preact/signals";

/** This near to the end, scrolling down takes hold again. */
const NEAR = 48;

export class Follower {
  readonly held = signal(true);
  private last = 0;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly list: HTMLElement,
    content: HTMLElement,
  ) {
    this.observer = new ResizeObserver(() => this.keep());
    this.observer.observe(content);
    this.observer.observe(list);
  }

  stop(): void {
    this.observer.disconnect();
  }

  /** A scroll event: the reader's, or the echo of our own. */
  scrolled(): void {
    const { scrollTop } = this.list;
    const left = this.left();
    if (scrollTop < this.last - 1 && left > 1) this.held.value = false;
    else if (scrollTop > this.last && left < NEAR) this.held.value = true;
    this.last = scrollTop;
  }

  /** To the end, and stay there. */
  hold(): void {
    this.held.value = true;
    this.keep();
  }

  release(): void {
    this.held.value = false;
  }

  /** Move by hand, so that it isn't taken for the reader's doing. */
  moveTo(top: number): void {
    this.list.scrollTop = top;
    this.last = this.list.scrollTop;
  }

  left(): number {
    return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight;
  }

  private keep(): void {
    if (this.held.value) this.moveTo(this.list.scrollHeight);
  }
}
