"""Reading `campaign.toml`: every fault of the file in one message, each with its key and what to do."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from adjudge.core.errors import InputError, UsageError
from adjudge.core.errors import shown as quoted
from adjudge.core.files import read_text
from adjudge.core.protocols import PROTOCOLS
from adjudge.design.campaign import Campaign
from adjudge.design.campaign.parts import Design, map_paths

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# Errors are marked, and texts edited, in whole documents, if the file says nothing else.
WHOLE_DOCUMENTS = "pages-same-documents"
MOST_LOGO_BYTES = 1_000_000
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
# An SVG element, behind at most a byte order mark, a declaration and comments.
_SVG = re.compile(rb"(\xef\xbb\xbf)?\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<svg[\s>]", re.DOTALL)


def load_campaign(path: Path | str) -> Campaign:
    """Read a campaign file. Paths in it are made absolute, and texts of instructions are read in."""
    path = Path(path)
    data = _parse_toml(path)
    protocol = PROTOCOLS.get(str(data.get("protocol")))
    if protocol is not None and protocol.in_text and isinstance(data.setdefault("design", {}), dict):
        data["design"].setdefault("structure", WHOLE_DOCUMENTS)
    try:
        campaign = check_campaign(data)
    except (RecursionError, OverflowError) as fault:
        raise InputError("is nested too deeply for a campaign; correct it", file=path) from fault
    except ValidationError as fault:
        faults = dict.fromkeys(_describe_fault(error) for error in fault.errors() if not _is_other_branch(error))
        raise InputError("; ".join(faults), file=path) from fault
    return _resolve_files(campaign, path)


def check_campaign(data: dict[str, Any]) -> Campaign:
    """Check the content of a campaign file; paths stay as they are."""
    # As JSON, because arrays and paths are then accepted in strict mode, while "5" for 5 still is not.
    return Campaign.model_validate_json(json.dumps(data, default=str))


def set_selection(campaign: Campaign, select: str) -> Campaign:
    """The campaign with its segments chosen by `outputs`, or by the numbers in a file."""
    file = None if select == "outputs" else Path(select).resolve()
    if file is not None and not file.is_file():
        raise UsageError(
            f"--select is '{quoted(select)}', which is neither 'outputs' nor a file; name a file of numbers"
        )
    how = "outputs" if file is None else "spread"
    try:
        return Campaign(
            **{
                **dict(campaign),
                "design": Design(**{**dict(campaign.design), "select": how}),
                "files": campaign.files.model_copy(update={"spread": file}),
            }
        )
    except ValidationError as fault:
        raise UsageError("; ".join(dict.fromkeys(_describe_fault(error) for error in fault.errors()))) from fault


def _parse_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"is not valid TOML ({fault}); correct it", file=path) from fault
    except (ValueError, RecursionError) as fault:
        what = "is nested too deeply" if isinstance(fault, RecursionError) else "holds a number of too many digits"
        raise InputError(f"{what} for a campaign; correct it", file=path) from fault


def _describe_fault(error: ErrorDetails) -> str:
    """One fault as `key: what is wrong (got ...)`."""
    # Names of union branches such as `function-before[...]` or `int` say nothing to users.
    key = quoted(".".join(str(part) for part in error["loc"] if not _is_branch(str(part))), 100) or "the file"
    if error["type"] == "extra_forbidden":
        return f"{key}: this key is unknown; check its spelling and its place"
    if error["type"] == "missing":
        return f"{key}: this key is missing; add it"
    message = error["msg"].removeprefix("Value error, ")
    got = error["input"]
    shown = f" (got {quoted(json.dumps(got, ensure_ascii=False))})" if isinstance(got, str | int | float | bool) else ""
    return f"{key}: {message[:1].lower()}{message[1:]}{shown}"


def _is_other_branch(error: ErrorDetails) -> bool:
    """Whether a fault comes from trying a list as a number, allowed instead: the faults of the list say enough."""
    return error["type"] == "int_type" and isinstance(error["input"], list) and bool(error["input"])


def _is_branch(part: str) -> bool:
    return "[" in part or part in ("int", "float", "constrained-int", "constrained-float", "constrained-str")


def _resolve_files(campaign: Campaign, path: Path) -> Campaign:
    """Make all paths absolute, check that the files exist, and read the texts of the instructions."""
    missing: list[str] = []

    def resolve(file: Path, keys: tuple[str, ...]) -> Path:
        full = path.resolve().parent / file
        if not _is_file(full):
            missing.append(f"{quoted('.'.join(keys), 100)}: no such file '{quoted(file)}' beside the campaign file")
        return full

    resolved: Campaign = map_paths(campaign, resolve)
    if missing:
        raise InputError("; ".join(missing) + "; check names and places", file=path)
    texts = {
        language: instruction.model_copy(update={"text": read_text(instruction.file)})
        if instruction.file
        else instruction
        for language, instruction in resolved.instructions.items()
    }
    if resolved.page.logo is not None:
        logo_type(resolved.page.logo)
    return resolved.model_copy(update={"instructions": texts})


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        # No file can have such a name.
        return False


def logo_type(file: Path) -> str:
    """The media type of a logo, by its content; anything but a small PNG, JPEG or SVG file is refused."""
    try:
        content = file.read_bytes() if file.stat().st_size <= MOST_LOGO_BYTES else None
    except OSError as fault:
        raise InputError(f"the logo cannot be read ({fault.strerror}); check its rights", file=file) from fault
    if content is None:
        raise InputError(f"the logo has more than {MOST_LOGO_BYTES:,} bytes; take a smaller picture", file=file)
    for start, kind in _PICTURES.items():
        if content.startswith(start):
            return kind
    if _SVG.match(content) and b"<!ENTITY" not in content:
        return "image/svg+xml"
    raise InputError("the logo is neither PNG nor JPEG nor SVG; convert it to one of these", file=file)
