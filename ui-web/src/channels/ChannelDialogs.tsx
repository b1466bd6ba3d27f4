// Making a channel, giving it another name, and deleting it after a question.
import type { JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Avatar } from "../agents/Avatar";
import { problemText, t } from "../i18n/translate";
import { agents, channels, current, forget, give, nameOf, pending, refusals } from "../shell/app";
import { reason } from "../shell/away";
import { closeDialog, dismissDialog } from "../shell/dialog";
import { DialogBox } from "../shell/DialogBox";
import { neighbourOf, openRow } from "../shell/rows";
import { go } from "../shell/route";

const CREATE = "create channel";

export function CreateDialog(): JSX.Element {
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => forget(CREATE), []);
  const create = async (name: string, description: string): Promise<void> => {
    const made = await give(CREATE, "Create", { name, description });
    if (typeof made !== "string") return;
    for (const { name: agent } of agents.value) {
      if (chosen.has(agent)) await give(`invite ${agent}`, "AddMember", { channel: made, agent });
    }
    closeDialog();
    go(made);
  };
  return (
    <DialogBox title={t("channel.create")}>
      <NameForm name="" description="" known={CREATE} verb={t("channel.createDo")} onDone={create}>
        {agents.value.length > 0 && (
          <fieldset class="form-choices">
            <legend>{t("channel.inviteWhom")}</legend>
            {agents.value.map(({ name, title }) => (
              <label key={name} class="form-choice">
                <input
                  type="checkbox"
                  checked={chosen.has(name)}
                  onChange={({ currentTarget }) => {
                    const next = new Set(chosen);
                    if (currentTarget.checked) next.add(name);
                    else next.delete(name);
                    choose(next);
                  }}
                />
                <Avatar agent={name} />
                <span class="form-name">{title}</span>
                {title !== name && <span class="quiet">@{name}</span>}
              </label>
            ))}
          </fieldset>
        )}
      </NameForm>
    </DialogBox>
  );
}

export function RenameDialog({ channel: id }: { channel: string }): JSX.Element | null {
  const channel = channels.value.find((one) => one.id === id);
  const key = `rename ${id}`;
  useEffect(() => forget(key), []);
  if (channel === undefined) return null;
  const rename = async (name: string, description: string): Promise<void> => {
    await give(key, "Rename", { channel: id, name, description });
    if (refusals.peek()[key] === undefined) dismissDialog();
  };
  return (
    <DialogBox title={t("channel.rename")}>
      <NameForm
        name={channel.name}
        description={channel.description}
        known={key}
        verb={t("channel.renameDo")}
        onDone={rename}
      />
    </DialogBox>
  );
}

interface FormProps {
  name: string;
  description: string;
  /** Under which key its command and its refusal are known. */
  known: string;
  verb: string;
  onDone: (name: string, description: string) => Promise<void>;
  children?: JSX.Element | false;
}

function NameForm({ name, description, known, verb, onDone, children }: FormProps): JSX.Element {
  const [typed, type] = useState({ name, description });
  const id = useId();
  const refusal = refusals.value[known];
  const waits = pending.value.has(known);
  const away = reason("bus", "router");
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void onDone(typed.name.trim().replace(/^#\s*/, ""), typed.description.trim());
      }}
    >
      <label class="form-field">
        <span>{t("channel.name")}</span>
        <input
          type="text"
          class="input"
          value={typed.name}
          autoFocus
          autocomplete="off"
          aria-invalid={refusal !== undefined}
          aria-describedby={refusal === undefined ? undefined : id}
          onInput={({ currentTarget }) => type({ ...typed, name: currentTarget.value })}
        />
      </label>
      <label class="form-field">
        <span>
          {t("channel.description")} <span class="quiet">{t("channel.optional")}</span>
        </span>
        <input
          type="text"
          class="input"
          value={typed.description}
          autocomplete="off"
          onInput={({ currentTarget }) => type({ ...typed, description: currentTarget.value })}
        />
      </label>
      {children}
      {refusal !== undefined && (
        <p class="refusal" role="alert" id={id}>
          {problemText(refusal)}
        </p>
      )}
      <div class="form-actions">
        <button type="button" class="button button-wide" onClick={dismissDialog}>
          {t("dialog.cancel")}
        </button>
        <button
          type="submit"
          class="button button-wide primary"
          disabled={waits || away !== undefined || typed.name.trim() === ""}
          title={away}
        >
          {verb}
        </button>
      </div>
    </form>
  );
}

export function DeleteDialog({ channel: id }: { channel: string }): JSX.Element | null {
  const channel = channels.value.find((one) => one.id === id);
  const key = `delete ${id}`;
  useEffect(() => forget(key), []);
  const refusal = refusals.value[key];
  const away = reason("bus", "router");
  if (channel === undefined) return null;
  const remove = async (): Promise<void> => {
    const next = neighbourOf(id);
    await give(key, "Delete", { channel: id });
    if (refusals.peek()[key] !== undefined) return;
    closeDialog();
    if (current.peek() === id) openRow(next);
  };
  return (
    <DialogBox title={t("channel.delete", { name: nameOf(channel) })}>
      <p>{t("channel.deleteMeans")}</p>
      {refusal !== undefined && (
        <p class="refusal" role="alert">
          {problemText(refusal)}
        </p>
      )}
      <div class="form-actions">
        <button type="button" class="button button-wide" autoFocus onClick={dismissDialog}>
          {t("dialog.cancel")}
        </button>
        <button
          type="button"
          class="button button-wide danger"
          disabled={away !== undefined || pending.value.has(key)}
          title={away}
          onClick={() => void remove()}
        >
          {t(pending.value.has(key) ? "channel.deleting" : "channel.deleteDo")}
        </button>
      </div>
    </DialogBox>
  );
}
