"""What an agent sees, in MCP's words: observations as content, the task as instructions and as prompt messages."""

from __future__ import annotations

from collections.abc import Iterable

import mcp_types as types

from envhub.sdk.messages import ImagePart, Message, Observation, Part, TextPart


def result_of(observation: Observation) -> types.CallToolResult:
    """An observation as a call's result; it is an error where any tool result in it is."""
    content: list[types.ContentBlock] = []
    is_error = False
    for part in observation.parts:
        content += _blocks(part)
        is_error = is_error or (part.type == "tool_result" and part.is_error)
    return types.CallToolResult(content=content, is_error=is_error)


def refusal(text: str) -> types.CallToolResult:
    """An error the model reads."""
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def instructions_of(prompt: Iterable[Message], seen: Observation) -> str:
    """All text of a prompt and of what is seen first."""
    texts = [_text(message) for message in prompt]
    return "\n\n".join(text for text in [*texts, seen.text] if text)


def prompt_messages(prompt: Iterable[Message], seen: Observation) -> list[types.PromptMessage]:
    """A prompt and what is seen first, pictures included: one message a part, as MCP has it."""
    messages = [message for one in prompt for message in _as_messages(one.role, _parts(one))]
    return messages + _as_messages("user", seen.parts)


def _blocks(part: Part) -> list[types.ContentBlock]:
    """A part as MCP content; a tool result becomes what is in it."""
    if isinstance(part, TextPart):
        return [types.TextContent(text=part.text)]
    if isinstance(part, ImagePart):
        if part.data is None:
            return [types.TextContent(text=f"[{part.media_type} {part.digest}]")]
        return [types.ImageContent(data=part.data, mime_type=part.media_type)]
    return [block for piece in part.content for block in _blocks(piece)]


def _parts(message: Message) -> tuple[Part, ...]:
    content = message.content
    return (TextPart(text=content),) if isinstance(content, str) else content


def _text(message: Message) -> str:
    return Observation(parts=_parts(message)).text


def _as_messages(role: str, parts: Iterable[Part]) -> list[types.PromptMessage]:
    # MCP knows two roles: what the system or a tool says is told to the model by the user.
    known: types.Role = "assistant" if role == "assistant" else "user"
    return [types.PromptMessage(role=known, content=block) for part in parts for block in _blocks(part)]


__all__ = ["instructions_of", "prompt_messages", "refusal", "result_of"]
