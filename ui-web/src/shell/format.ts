// Times, sizes and counts as people of the language in force write them.
import { computed, signal } from "@preact/signals";
import { locale, t } from "../i18n/translate";

/** The time, for what ages on the screen. One ticker for all, in seconds. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 1_000);

const times = computed(
  () => new Intl.DateTimeFormat(locale.value, { hour: "numeric", minute: "2-digit" }),
);
const days = computed(
  () =>
    new Intl.DateTimeFormat(locale.value, {
      weekday: "long",
      day: "numeric",
      month: "long",
      year: "numeric",
    }),
);
const full = computed(
  () => new Intl.DateTimeFormat(locale.value, { dateStyle: "full", timeStyle: "medium" }),
);
const percents = computed(() => new Intl.NumberFormat(locale.value, { style: "percent" }));
const compact = computed(
  () =>
    new Intl.NumberFormat(locale.value, { notation: "compact", maximumFractionDigits: 1 }),
);

export function clock(at: number): string {
  return times.value.format(at);
}

export function moment(at: number): string {
  return full.value.format(at);
}

/** Midnight of the day that `at` lies in, as a key for days. */
export function dayOf(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

export function dayName(at: number, today: number): string {
  const day = dayOf(at);
  if (day === dayOf(today)) return t("channel.today");
  if (day === dayOf(dayOf(today) - 1)) return t("channel.yesterday");
  return days.value.format(at);
}

export function percent(share: number): string {
  return percents.value.format(share);
}

export function count(number: number): string {
  return compact.value.format(number);
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

export function size(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return new Intl.NumberFormat(locale.value, {
    style: "unit",
    unit: UNITS[step],
    unitDisplay: "short",
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** step);
}

export function lasted(ms: number): string {
  if (ms >= 3_600_000) {
    const minutes = Math.floor(ms / 60_000);
    return t("time.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
  }
  if (ms >= 60_000) return t("time.minutes", { count: Math.round(ms / 60_000) });
  if (ms >= 9_500) return t("time.seconds", { count: Math.round(ms / 1_000) });
  return t("time.seconds", { count: Math.round(ms / 100) / 10 });
}
