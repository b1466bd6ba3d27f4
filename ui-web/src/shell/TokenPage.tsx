// What stands here without a key: how to come in.
import type { JSX } from "preact";
import { t } from "../i18n/translate";

export function TokenPage(): JSX.Element {
  return (
    <main class="token">
      <img src="/favicon.svg" width="56" height="56" alt="" />
      <h1>{t("token.title")}</h1>
      <p>{t("token.refused")}</p>
      <pre tabIndex={0}>
        <code>sk-cli open</code>
      </pre>
      <p class="quiet">{t("token.why")}</p>
    </main>
  );
}
