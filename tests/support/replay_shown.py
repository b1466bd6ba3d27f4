"""What a channel must show of the frames that an agent sent, and what it shows, as plain lists.

Written without a look at how the router does it. Where texts are cut into parts, and which message
holds what came after an answer's end, may differ; the order, each character and each call may not.
"""

import json
from typing import Any

Item = dict[str, Any]

_SILENT = (
    "user_message_chunk",  # our own words, coming back
    "usage_update",
    "available_commands_update",
    "session_info_update",
    "current_mode_update",
    "config_option_update",
)


def expected(turns: list[list[dict[str, Any]]]) -> list[Item]:
    """What is to be seen of a session's frames, which come by turns.

    A call and a plan are of one turn; the next may use the same id for another.
    """
    made: list[Item] = []
    for frames in turns:
        items: list[Item] = []
        for frame in frames:
            params = frame.get("params") or {}
            if frame.get("method") == "session/update":
                _update(items, params["update"])
            elif frame.get("method") == "session/request_permission":
                _call(items, params["toolCall"])
        for item in items:
            if item["type"] in ("text", "thought"):
                _text(made, item["type"], item["text"])
            else:
                made.append(item)
    return made


def _update(items: list[Item], update: dict[str, Any]) -> None:
    match update["sessionUpdate"]:
        case "agent_message_chunk" | "agent_thought_chunk" as kind:
            content = update["content"]
            if content["type"] == "text":
                _text(
                    items, "text" if kind == "agent_message_chunk" else "thought", content["text"]
                )
            else:
                items.append({"type": content["type"]})
        case "tool_call" | "tool_call_update":
            _call(items, update)
        case "plan":
            plan = next((one for one in items if one["type"] == "plan"), None)
            if plan is None:
                items.append(plan := {"type": "plan"})
            plan["steps"] = [[one["content"], one["status"]] for one in update["entries"]]
        case kind if kind not in _SILENT:
            items.append({"type": "other"})


def _text(items: list[Item], kind: str, text: str) -> None:
    if items and items[-1]["type"] == kind:
        items[-1]["text"] += text
    elif text:
        items.append({"type": kind, "text": text})


def _call(items: list[Item], patch: dict[str, Any]) -> None:
    id_ = patch["toolCallId"]
    call = next((one for one in items if one["type"] == "tool" and one["id"] == id_), None)
    if call is None:
        items.append(call := {"type": "tool", "id": id_, "streamed": []})
    for name in ("title", "kind", "status", "locations", "rawInput", "rawOutput", "content"):
        if patch.get(name) is not None:
            call[name] = patch[name]
    meta = patch.get("_meta") or {}
    for name in ("terminal_output_delta", "terminal_output"):
        if isinstance(meta.get(name), dict):
            call["streamed"].append(meta[name]["data"])


def folded(events: list[dict[str, Any]], channel: str) -> list[dict[str, Any]]:
    """A channel's messages, as whoever follows it from the start has them.

    A message that ends is told whole: nothing may stand there that didn't grow before.
    """
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["channel"] != channel:
            continue
        if event["type"] == "message:updated":
            message = event["message"]
            grown = found.get(message["id"])
            if grown is not None and grown["rev"]:
                assert grown["rev"] == message["rev"], "a delta is missing"
                _same_parts(grown["parts"], message["parts"])
            found[message["id"]] = message | {"parts": list(message["parts"])}
        else:
            _grow(found[event["messageId"]], event)
    return list(found.values())


def _grow(message: dict[str, Any], delta: dict[str, Any]) -> None:
    message["rev"] += 1
    assert message["rev"] == delta["rev"], "a revision was left out"
    parts, index = message["parts"], delta["index"]
    if delta.get("part") is not None:
        parts[index : index + 1] = [delta["part"]]
    elif index == len(parts):
        parts.append({"type": delta["kind"], "text": delta["text"]})
    else:
        parts[index] = parts[index] | {"text": parts[index]["text"] + delta["text"]}


def _same_parts(grown: list[dict[str, Any]], told: list[dict[str, Any]]) -> None:
    assert [one["type"] for one in grown] == [one["type"] for one in told], "other parts"
    for one, other in zip(grown, told, strict=True):
        if isinstance(one.get("text"), str) and isinstance(other.get("text"), dict):
            assert len(one["text"]) == other["text"]["length"] or not one["text"].isascii()
        else:
            assert one == other, f"grew {_short(one)}, told {_short(other)}"


def shown(messages: list[dict[str, Any]]) -> list[Item]:
    """What the messages of an agent hold, one after the other."""
    items: list[Item] = []
    for part in (part for message in messages for part in message["parts"]):
        if part["type"] in ("text", "thought"):
            _text(items, part["type"], part["text"])
        elif part["type"] == "tool":
            items.append({"type": "tool", **part["tool"]})
        elif part["type"] == "plan":
            items.append(
                {"type": "plan", "steps": [[s["content"], s["status"]] for s in part["steps"]]}
            )
        else:
            items.append({"type": part["type"]})
    return items


def differences(sent: list[Item], seen: list[Item]) -> list[str]:
    """What of the one isn't in the other; nothing where all is well."""
    found = []
    if [one["type"] for one in sent] != [one["type"] for one in seen]:
        found.append(f"sent {_outline(sent)}, shown {_outline(seen)}")
        return found
    for one, other in zip(sent, seen, strict=True):
        if one["type"] == "tool":
            found += _differing_calls(one, other)
        elif one["type"] in ("text", "thought", "plan") and one != other:
            found.append(f"sent {_short(one)}, shown {_short(other)}")
    return found


def _differing_calls(sent: Item, seen: Item) -> list[str]:
    found = []
    if sent["id"] != seen["id"]:
        return [f"call {seen['id']} in the place of {sent['id']}"]
    final = sent.get("status") in ("completed", "failed")
    pairs = [
        ("title", sent.get("title", ""), seen.get("title", "")),
        ("kind", sent.get("kind", "other"), seen.get("kind", "other")),
        ("status", sent.get("status", "pending"), seen.get("status", "pending")),
        ("ended", not final, bool(seen.get("ended"))),
        ("input", _plain(sent.get("rawInput")), _plain(seen.get("input", ""))),
        ("places", [one["path"] for one in sent.get("locations", [])], _paths(seen)),
        ("diffs", _diffs(sent), [[d["path"], d["newText"]] for d in seen.get("diffs", [])]),
    ]
    for name, one, other in pairs:
        if one != other:
            found.append(f"call {sent['id']}: {name} {_short(one)}, shown {_short(other)}")
    output = seen.get("output", "")
    missing = [text for text in _outputs(sent) if text not in output]
    found += [f"call {sent['id']}: {_short(text)} not in {_short(output)}" for text in missing]
    return found


def _paths(seen: Item) -> list[str]:
    return [one["path"] for one in seen.get("locations", [])]


def _diffs(sent: Item) -> list[list[str]]:
    return [
        [one["path"], one["newText"]] for one in sent.get("content", []) if one["type"] == "diff"
    ]


def _outputs(sent: Item) -> list[str]:
    """The texts that a call's output must hold."""
    texts = [
        one["content"]["text"]
        for one in sent.get("content", [])
        if one["type"] == "content" and one["content"]["type"] == "text"
    ]
    if texts:
        return texts
    raw = sent.get("rawOutput")
    return sent["streamed"] or ([raw] if isinstance(raw, str) else [])


def _plain(value: Any) -> Any:
    """A call's input, whether it is JSON or was told as a text of it."""
    if value in (None, ""):
        return None
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _outline(items: list[Item]) -> str:
    return " ".join(one["type"] for one in items) or "nothing"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 300 else f"{text[:200]} … {text[-80:]}"
