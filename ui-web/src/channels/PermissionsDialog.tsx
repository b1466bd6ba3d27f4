// Everything that waits for a person, over all conversations, in one list.
import type { JSX } from "preact";
import { t } from "../i18n/translate";
import { channels, nameOf, permissions } from "../shell/app";
import { closeDialog } from "../shell/dialog";
import { DialogBox } from "../shell/DialogBox";
import { go } from "../shell/route";
import { PermissionCard } from "./PermissionCard";

export function PermissionsDialog(): JSX.Element {
  const all = permissions.value;
  return (
    <DialogBox title={t("permission.all")}>
      {all.length === 0 && <p role="status">{t("permission.none")}</p>}
      {all.map((permission, index) => {
        const channel = channels.value.find(({ id }) => id === permission.channel);
        return (
          <section key={permission.id} class="waiting">
            <button
              type="button"
              class="link link-first"
              onClick={() => {
                closeDialog();
                go(permission.channel);
              }}
            >
              {channel === undefined ? permission.channel : nameOf(channel)}
            </button>
            <PermissionCard permission={permission} index={index + 1} count={all.length} docked />
          </section>
        );
      })}
    </DialogBox>
  );
}
