"""The page as HTML: what is asked, what was wrong last time, what came; every word of others is escaped."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path

from perdure.app.operations.requests import ReceivedView, RequestView
from perdure.surfaces.http.json_response import HTML, Response
from perdure.surfaces.http.request_page.answer_fields import fields_html
from perdure.surfaces.http.request_page.words import day_text, kind_text, kinds_text, size_text

HERE = Path(__file__).resolve().parent
STYLE, SCRIPT = ((HERE / name).read_text("utf-8") for name in ("page.css", "page.js"))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; script-src {_hash(SCRIPT)}; style-src {_hash(STYLE)}; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}
"""A page that nothing is loaded into, nobody keeps and no search engine knows.

With `no-referrer` a browser would send the form with the origin `null`, which the server refuses; `same-origin` tells
the address to this server alone.
"""


def request_page(view: RequestView, problem: str = "", status: int = 200) -> Response:
    """The page of a request as it stands."""
    title = escape(view.title or "A document")
    if view.status == "over":
        return _page("Nothing to do", CLOSED, status)
    if view.status == "received":
        thanks = f"<h1>Thank you</h1><p>We have received what we asked you for: {title}.</p>"
        return _page("Thank you", f"{thanks}{_came(view, 'good')}{_told(problem)}{DONE}", status)
    head = f'<div><p class="soft">Please send us</p><h1>{title}</h1></div>'
    parts = [head, f"<p>{escape(view.text)}</p>" if view.text else "", _due(view), _wrong(view)]
    if view.received:
        parts.append(_came(view, ""))
    parts += [_told(problem), _form(view)]
    return _page(f"Please send: {title}", "".join(parts), status)


def closed_page() -> Response:
    """The page of a link that is over, or that nobody here has made."""
    return _page("This link does not work", OVER, 404)


def entrance_page() -> Response:
    """The page of a link that carries its token behind a `#`."""
    return _page("One moment", ENTRANCE, 200)


CLOSED = """<h1>Nothing to do</h1><div class="card"><p>This request is closed: what was asked for is not
needed any more, or you have been sent a newer message. Please use the link in the newest one.</p></div>"""
OVER = """<h1>This link does not work any more</h1><div class="card">
<p>It is too old, or the address is not complete.</p>
<p>Please open the newest message that we sent you, or ask the person who wrote to you for a new link.</p></div>"""
DONE = '<p class="soft">You can close this page. If something is missing, we will write to you.</p>'
ENTRANCE = """<h1>One moment</h1><noscript><div class="card"><p>Your browser does not run scripts. Please put a / in the
place of the # in the address, and open it again.</p></div></noscript>"""


def _page(title: str, body: str, status: int) -> Response:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><main>{body}</main>"
        f"<script>{SCRIPT}</script></body></html>"
    )
    return Response(text.encode(), status, HTML, HEADERS)


def _due(view: RequestView) -> str:
    if view.due_at is None:
        return ""
    day = f'<time data-day datetime="{escape(view.due_at)}">{day_text(view.due_at)}</time>'
    return f"<p>Please send it by <strong>{day}</strong>.</p>"


def _wrong(view: RequestView) -> str:
    if not view.reason:
        return ""
    return f'<div class="card bad"><h2>What was wrong last time</h2><p>{escape(view.reason)}</p></div>'


def _told(problem: str) -> str:
    hidden = "" if problem else " hidden"
    return f'<div class="card bad" id="told" role="alert" tabindex="-1"{hidden}><p>{escape(problem)}</p></div>'


def _came(view: RequestView, tone: str) -> str:
    title = f"{view.received_count} of {view.expected} have come" if view.expected > 1 else "What you sent"
    lines = "".join(f"<li>{_received(each)}</li>" for each in view.received)
    return f'<div class="card {tone}"><h2>{title}</h2><ul>{lines}</ul></div>' if lines else ""


def _received(each: ReceivedView) -> str:
    size = f", {size_text(each.size)}" if each.size is not None else ""
    day = f'<time data-day datetime="{escape(each.at)}">{day_text(each.at)}</time>'
    return f"{escape(kind_text(each.media_type))}{size}, on {day}"


def _form(view: RequestView) -> str:
    if not view.media_types and view.data_schema is not None:
        fields = fields_html(view.data_schema)
        return f'<form class="card" method="post">{fields}<button type="submit">Send</button></form>'
    kinds, most = kinds_text(view.media_types), size_text(view.max_bytes) if view.max_bytes else ""
    limits = f"We can take {kinds}{f', up to {most}' if most else ''}."
    accept = escape(",".join(view.media_types))
    has_camera = any(each.startswith("image/") for each in view.media_types)
    camera = (
        '<div class="field camera"><label for="camera">Take a photo</label>'
        '<input id="camera" type="file" name="file" accept="image/*" capture="environment"></div>'
    )
    return (
        f'<form class="card" method="post" enctype="multipart/form-data" data-most="{view.max_bytes or 10**15}" '
        f'data-limits="{escape(limits)}">{camera if has_camera else ""}'
        '<div class="field"><label for="file">Choose a file</label>'
        f'<input id="file" type="file" name="file" accept="{accept}"></div><p class="soft">{escape(limits)}</p>'
        '<div hidden role="status"><p>Sending…</p><progress max="1" value="0" aria-label="Sending"></progress></div>'
        '<button type="submit">Send</button></form>'
    )
