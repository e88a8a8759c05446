"""What the page may ask for."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from anylight.errors import InvalidInputError
from anylight.viewer.sources import MODULES, module

from .forms import forms
from .live import live
from .photographs import photograph
from .room import BusyError, Room
from .uploads import TooMuchError

_KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_MOST_JSON = 1_000_000
_MOST_MASK = 2 * 1600 * 1600
_COMPARED = ("photo", "rendering", "residual", "light")

Answer = Callable[[Request], Awaitable[Response]]


@cache
def assets() -> dict[str, tuple[str, bytes]]:
    """Every file of the page, by name: kind and content. Nothing else is served."""
    found = {}
    for entry in files(__package__).joinpath("page").iterdir():
        suffix = entry.name[entry.name.rfind(".") :]
        if suffix in _KINDS:
            found[entry.name] = (_KINDS[suffix], entry.read_bytes())
    for name in MODULES:
        found[f"viewer/{name}"] = ("text/javascript", module(name).encode())
    return found


def _room(request: Request) -> Room:
    room: Room = request.app.state.room
    return room


def _plainly(answer: Answer) -> Answer:
    """Say what is wrong in one sentence."""

    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except TooMuchError as error:
            return JSONResponse({"sentence": _sentence(error)}, 413)
        except BusyError as error:
            return JSONResponse({"sentence": _sentence(error)}, 409)
        except InvalidInputError as error:
            return JSONResponse({"sentence": _sentence(error)}, 400)
        except OSError as error:
            sentence = f"This could not be stored ({error.strerror or error})."
            return JSONResponse({"sentence": sentence}, 507)
        except (KeyError, IndexError, ValueError) as error:
            raise HTTPException(404) from error

    return answered


def _sentence(error: Exception) -> str:
    text = str(error)
    is_name = text.split(" ", 1)[0].endswith(":") or text.startswith("-")
    return text if is_name else text[:1].upper() + text[1:]


async def _body(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise TooMuchError("this is more than the studio takes.")
        parts.append(chunk)
    return b"".join(parts)


async def _json(request: Request) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(await _body(request, _MOST_JSON) or b"{}")
    except msgspec.DecodeError as error:
        raise InvalidInputError("this is not JSON.") from error
    if not isinstance(given, dict):
        raise InvalidInputError("this is not what the page sends.")
    return given


async def _page(request: Request) -> Response:
    name = request.path_params.get("name", "index.html")
    if name not in assets():
        raise HTTPException(404)
    kind, content = assets()[name]
    return Response(content, media_type=kind)


async def _state(request: Request) -> Response:
    return _done(_room(request))


def _done(room: Room) -> Response:
    return Response(msgspec.json.encode(room.state()), media_type="application/json")


async def _forms(request: Request) -> Response:
    del request
    return Response(msgspec.json.encode(forms()), media_type="application/json")


async def _example(request: Request) -> Response:
    _room(request).open(None, "example")
    return _done(_room(request))


async def _upload(request: Request) -> Response:
    return JSONResponse({"key": _room(request).start_upload().key})


async def _file_sent(request: Request) -> Response:
    upload = _room(request).upload
    if upload is None or upload.key != request.path_params["key"]:
        raise BusyError("another tab has sent other photos; drop these again.")
    name = await upload.take(request.path_params["name"], request.stream())
    return JSONResponse({"name": name})


async def _upload_opened(request: Request) -> Response:
    given = await _json(request)
    _room(request).open_upload(request.path_params["key"], str(given.get("title", "")))
    return _done(_room(request))


async def _choice(request: Request) -> Response:
    given = await _json(request)
    path = given.get("path")
    if not isinstance(path, list) or not 1 <= len(path) <= 3 or "value" not in given:
        raise InvalidInputError("this is not what the page sends.")
    await _room(request).choose([str(name) for name in path], given["value"])
    return _done(_room(request))


async def _mask(request: Request) -> Response:
    room = _room(request)
    session = room.open_session()
    if request.method == "PUT":
        number = int(request.query_params["number"])
        await room.paint(number, await _body(request, _MOST_MASK))
        return _done(room)
    mask = await asyncio.to_thread(session.view_mask)
    headers = {"x-mask-number": str(session.mask_number)}
    return Response(
        mask.astype("uint8").tobytes(), headers=headers, media_type="application/octet-stream"
    )


async def _propose(request: Request) -> Response:
    _room(request).propose()
    return _done(_room(request))


async def _photo(request: Request) -> Response:
    session = _room(request).open_session()
    index, kind = request.path_params["index"], request.path_params["kind"]
    if not 0 <= index < len(session.photos):
        raise KeyError(index)
    async with _room(request).developing:
        picture = await asyncio.to_thread(photograph, session, index, kind)
    return Response(picture, media_type="image/jpeg")


async def _run(request: Request) -> Response:
    await _room(request).run(request.path_params["action"])
    return _done(_room(request))


async def _scene(request: Request) -> Response:
    number = request.path_params["number"]
    outcome, _ = await asyncio.to_thread(_room(request).outcome, number)
    packed = await asyncio.to_thread(outcome.packed, number)
    if packed is None:
        raise KeyError(number)
    return Response(packed, media_type="application/octet-stream")


async def _picture(request: Request) -> Response:
    outcome, _ = await asyncio.to_thread(_room(request).outcome, request.path_params["number"])
    return _jpeg(await asyncio.to_thread(outcome.picture, request.path_params["name"]))


async def _compared(request: Request) -> Response:
    outcome, _ = await asyncio.to_thread(_room(request).outcome, request.path_params["number"])
    index, kind = request.path_params["index"], request.path_params["kind"]
    place = outcome.record["places"][index]
    if kind not in _COMPARED:
        raise KeyError(kind)
    return _jpeg(await asyncio.to_thread(outcome.comparison, index, place, kind))


def _jpeg(content: bytes | None) -> Response:
    if content is None:
        raise KeyError("picture")
    return Response(content, media_type="image/jpeg")


async def _lights(request: Request) -> Response:
    outcome, _ = await asyncio.to_thread(_room(request).outcome, request.path_params["number"])
    return JSONResponse(await asyncio.to_thread(outcome.lights))


async def _profile(request: Request) -> Response:
    outcome, _ = await asyncio.to_thread(_room(request).outcome, request.path_params["number"])
    x0, y0, x1, y1 = (float(request.query_params[name]) for name in ("x0", "y0", "x1", "y1"))
    return JSONResponse(await asyncio.to_thread(outcome.profile, (x0, y0, x1, y1)))


async def _file(request: Request) -> Response:
    session = _room(request).open_session()
    path = session.issued[request.path_params["key"]]
    name = f"{session.facts.name}_{path.parent.name}_{path.name}"
    if path.suffix == ".html" and "download" not in request.query_params:
        # A report is a page of its own with a policy of its own; it may not act as the studio.
        headers = {"content-security-policy": "sandbox allow-scripts"}
        return FileResponse(path, headers=headers, media_type="text/html")
    return FileResponse(path, filename=name)


def routes() -> list[BaseRoute]:
    """All of them."""
    table: list[tuple[str, Answer, str]] = [
        ("/", _page, "GET"),
        ("/assets/{name:path}", _page, "GET"),
        ("/api/state", _state, "GET"),
        ("/api/forms", _forms, "GET"),
        ("/api/example", _example, "POST"),
        ("/api/uploads", _upload, "POST"),
        ("/api/uploads/{key}/open", _upload_opened, "POST"),
        ("/api/uploads/{key}/files/{name}", _file_sent, "PUT"),
        ("/api/choice", _choice, "POST"),
        ("/api/mask", _mask, "GET"),
        ("/api/mask", _mask, "PUT"),
        ("/api/mask/propose", _propose, "POST"),
        ("/api/run/{action}", _run, "POST"),
        ("/photos/{index:int}/{kind}.jpg", _photo, "GET"),
        ("/results/{number:int}/scene", _scene, "GET"),
        ("/results/{number:int}/pictures/{name}.jpg", _picture, "GET"),
        ("/results/{number:int}/photos/{index:int}/{kind}.jpg", _compared, "GET"),
        ("/results/{number:int}/lights", _lights, "GET"),
        ("/results/{number:int}/profile", _profile, "GET"),
        ("/files/{key}", _file, "GET"),
    ]
    return [
        *(Route(path, _plainly(answer), methods=[method]) for path, answer, method in table),
        WebSocketRoute("/live", live),
    ]
