"""Pictures, sound and video of tasks, for those who have the task: in parts, as players ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse, StreamingHttpResponse
from ninja.errors import HttpError

from adjudge.campaigns.media import find_medium, find_part, kind_of, media_type
from adjudge.server.models import Assignment
from adjudge.server.processes import ensure_tasks
from adjudge.server.served_campaign import get_served

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from adjudge.server.models import Visitor

_CHUNK = 65_536


def describe_media(place: str, files: Sequence[str]) -> list[dict[str, Any]]:
    """What the page needs to show the files of an item or an output; their names, which may tell systems, stay here."""
    return [{"kind": kind_of(name), "place": place, "number": number} for number, name in enumerate(files)]


def send_medium(request: HttpRequest, visitor: Visitor, task: str, place: str, number: int) -> HttpResponseBase:
    """A file beside an item or an output of a task that the visitor was given."""
    file = _find_file(visitor, task, place, number)
    size, changed = file.stat().st_size, file.stat().st_mtime_ns
    tag = f'"{changed:x}-{size:x}"'
    wanted = request.headers.get("Range", "") if request.headers.get("If-Range", tag) == tag else ""
    part = find_part(wanted, size)
    answer: HttpResponseBase
    if part is None:
        answer = StreamingHttpResponse(_read_chunks(file), content_type=media_type(file.name))
        answer["Content-Length"] = str(size)
    elif part[0] >= part[1]:
        answer = HttpResponse(status=416)
        answer["Content-Range"] = f"bytes */{size}"
    else:
        with file.open("rb") as opened:
            opened.seek(part[0])
            content = opened.read(part[1] - part[0])
        answer = HttpResponse(content, status=206, content_type=media_type(file.name))
        answer["Content-Range"] = f"bytes {part[0]}-{part[0] + len(content) - 1}/{size}"
    answer["Accept-Ranges"] = "bytes"
    answer["ETag"] = tag
    answer["Cache-Control"] = "private, max-age=3600"
    answer["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return answer


def _find_file(visitor: Visitor, task: str, place: str, number: int) -> Path:
    """The file, if the visitor has the task; whoever has not learns nothing of what there is."""
    media = get_served().campaign.files.media
    given = Assignment.objects.filter(annotator_id=visitor.annotator_id, task=task).exists()
    if media is None or not given:
        raise HttpError(404, "there is no such file in a task of yours")
    ensure_tasks([task])
    places = get_served().media_by_place.get(task, {})
    names = places.get(place, ())
    file = find_medium(media.folder, names[number]) if 0 <= number < len(names) else None
    if file is None:
        raise HttpError(404, "there is no such file in a task of yours")
    return file


def _read_chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            yield chunk
