// A screen that comes in a chunk of its own. What can't be fetched is said, with a way out.
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/translate";

export type Screen = ComponentType<{ onBack: () => void }>;

interface Props {
  screen: () => Promise<Screen>;
  onBack: () => void;
}

export function Later({ screen, onBack }: Props): JSX.Element {
  const [loaded, setLoaded] = useState<{ it: Screen } | null>(null);
  const [failed, fail] = useState(false);
  useEffect(() => {
    screen().then(
      (it) => setLoaded({ it }),
      () => fail(true),
    );
  }, [screen]);
  if (loaded !== null) return <loaded.it onBack={onBack} />;
  return (
    <main class="conversation conversation-none" aria-busy={!failed}>
      <p>{t(failed ? "page.part" : "channel.loading")}</p>
      {failed && (
        <button type="button" class="button" onClick={() => location.reload()}>
          {t("page.reload")}
        </button>
      )}
    </main>
  );
}
