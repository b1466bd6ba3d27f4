// Whether a list follows its end. Only the reader lets go, by scrolling up; only the reader, or a
// message of his own, takes hold again. Distance alone would lose the end: scroll events come late.
//
// Nor does every scroll upwards come from the reader: where content shrinks and grows again within
// a frame (a stand-in is replaced by what it stood for), the browser itself moves up by the part
// that went away. So while sizes have changed, a scroll counts only with a wheel, a finger, a key or
// the scroll bar behind it.
import { signal } from "@preact/signals";

/** This near to the end, scrolling down takes hold again. */
const NEAR = 48;
/** A push goes on scrolling for so long: wheels and fingers have momentum. */
const MOMENTUM = 1_000;

const UPWARDS: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home", " ", "k", "K"]);

export class Follower {
  readonly held = signal(true);
  private last = 0;
  private height = 0;
  private room = 0;
  private pushed = -MOMENTUM;
  private readonly observer: ResizeObserver;
  private readonly ended = new AbortController();

  constructor(
    private readonly list: HTMLElement,
    content: HTMLElement,
  ) {
    this.observer = new ResizeObserver(() => this.keep());
    this.observer.observe(content);
    this.observer.observe(list);
    const push = (): void => void (this.pushed = performance.now());
    const options = { passive: true, signal: this.ended.signal };
    for (const name of ["wheel", "touchmove", "pointerdown"]) {
      list.addEventListener(name, push, options);
    }
    list.addEventListener("keydown", ({ key }) => UPWARDS.has(key) && push(), options);
  }

  stop(): void {
    this.observer.disconnect();
    this.ended.abort();
  }

  /** A scroll event: the reader's, the echo of our own, or the browser's after a change of sizes. */
  scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.list;
    const left = this.left();
    const settled = scrollHeight === this.height && clientHeight === this.room;
    const meant = settled || performance.now() - this.pushed < MOMENTUM;
    if (scrollTop < this.last - 1 && left > 1 && meant) this.held.value = false;
    else if (scrollTop > this.last && left < NEAR) this.held.value = true;
    this.note();
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
    this.note();
  }

  left(): number {
    return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight;
  }

  private keep(): void {
    if (this.held.value) this.moveTo(this.list.scrollHeight);
    else this.note();
  }

  private note(): void {
    this.last = this.list.scrollTop;
    this.height = this.list.scrollHeight;
    this.room = this.list.clientHeight;
  }
}
