"""Sessions of the scripted agent: made, loaded, resumed and closed, well or badly.

With SA_SESSIONS what was said in a session outlives the agent, as with real agents; which calls are
advertised and how they misbehave is told in :mod:`scripted_agent`.
"""

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.scripted_agent import Scripted

UNKNOWN = -32002
NOT_FOUND = -32601
KEPT = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call")

MODES: dict[str, Any] = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODEL: dict[str, Any] = {
    "id": "model",
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
}
EFFORT: dict[str, Any] = MODEL | {"id": "effort", "name": "Effort", "category": "thought_level"}
FLAG: dict[str, Any] = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}


def chosen(name: str) -> str:
    return os.environ.get(f"SA_{name}", "")


class Sessions:
    """Answers every ``session/…`` request but the prompt."""

    def __init__(self, agent: "Scripted") -> None:
        self._agent = agent
        self._made = 0
        self._folder = Path(chosen("SESSIONS")) if chosen("SESSIONS") else None
        self._options = [MODEL.copy(), EFFORT.copy()]
        if chosen("CONFIG") == "boolean":
            self._options.append(FLAG.copy())

    def called(self, method: str, request_id: Any, params: dict[str, Any]) -> None:
        match method:
            case "session/new":
                self._new(request_id)
            case "session/load" if chosen("LOAD"):
                self._again(request_id, params["sessionId"], chosen("LOAD"), replay=True)
            case "session/resume" if chosen("RESUME"):
                how = chosen("RESUME")
                replay = how in ("replays", "after")
                self._again(request_id, params["sessionId"], how, replay=replay)
            case "session/close" if chosen("CLOSE"):
                self._agent.cancel(params["sessionId"])
                self._agent.answer(request_id, {})
            case "session/set_mode" if chosen("MODES"):
                self._agent.answer(request_id, {})
            case "session/set_config_option" if chosen("CONFIG"):
                self._set(request_id, params)
            case _:
                self._agent.refuse(request_id, NOT_FOUND, f"no method {method}")

    def keep(self, session: str, kind: str, fields: dict[str, Any]) -> None:
        """Remember an update for a later load."""
        if self._folder is not None and kind in KEPT:
            with (self._folder / session).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"sessionUpdate": kind, **fields}) + "\n")

    def _new(self, request_id: Any) -> None:
        time.sleep(float(chosen("NEW_DELAY") or "0"))
        if chosen("NEW_SILENT") or self._agent.gated(request_id):
            return
        if message := chosen("NEW_ERROR"):
            self._agent.refuse(request_id, -32603, message)
            return
        self._made += 1
        session = "s-0" if chosen("SAME_SESSION") else f"s-{os.getpid()}-{self._made}"
        if self._folder is not None:
            (self._folder / session).touch()
        if chosen("EARLY"):
            self._agent.update(session, "usage_update", used=1, size=1000)
            commands = [{"name": "early", "description": "Told before its session"}]
            self._agent.update(session, "available_commands_update", availableCommands=commands)
        if chosen("NEW_EMPTY"):
            self._agent.answer(request_id, {})
            return
        self._agent.answer(request_id, {"sessionId": session, **self._settings()})

    def _settings(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if chosen("MODES"):
            made["modes"] = MODES
        if chosen("CONFIG"):
            made["configOptions"] = self._options
        return made

    def _again(self, request_id: Any, session: str, how: str, *, replay: bool) -> None:
        if how == "silent" or self._agent.gated(request_id):
            return
        if how.lstrip("-").isdigit():
            self._agent.refuse(request_id, int(how), "Session not found")
            return
        if self._folder is not None and not (self._folder / session).exists():
            self._agent.refuse(request_id, UNKNOWN, "Session not found", data=session)
            return
        if replay and how not in ("nothing", "after"):
            self._replay(session)
        self._agent.answer(request_id, None if how == "null" else self._settings())
        if how == "after":
            self._replay(session)

    def _replay(self, session: str) -> None:
        lines = [json.dumps({"sessionUpdate": "agent_message_chunk", "content": REPLAYED})]
        if self._folder is not None:
            lines = (self._folder / session).read_text(encoding="utf-8").splitlines()
        for line in lines:
            params = {"sessionId": session, "update": json.loads(line)}
            self._agent.send({"method": "session/update", "params": params})

    def _set(self, request_id: Any, params: dict[str, Any]) -> None:
        found = [one for one in self._options if one["id"] == params["configId"]]
        for option in found:
            option["currentValue"] = params["value"]
        told = found if chosen("CONFIG") == "partial" else self._options
        self._agent.answer(request_id, {"configOptions": told})


REPLAYED = {"type": "text", "text": "replayed "}
