"""The sections of the page below the viewer, as HTML."""

from collections.abc import Iterable, Iterator, Mapping

from anylight.model.finding import Finding
from anylight.pictures import Sheet

from .comparison import Comparison
from .embedding import jpeg, words
from .residuals import Residuals

_RANK = {"problem": 0, "warning": 1, "note": 2, "good": 3}
_CAPTIONS = {
    "shaded": "Shape under a lamp from the upper left",
    "depth": "Depth: near is bright",
    "normals": "Normals: red right, green up, blue to the viewer",
    "albedo": "Albedo: the colours without the light",
    "confidence": "Confidence of the normals: white is certain, mid-grey is five degrees",
    "openness": "Openness: from dark parts the object itself hides most of the sky",
}


def findings_section(before: Iterable[Finding], after: Iterable[Finding]) -> str:
    """What the doctor said, the worst first."""
    columns = [
        _doctor("Before the run: the photos", before),
        _doctor("After the run: the result", after),
    ]
    if not any(columns):
        return ""
    return _section("findings", "Findings", f'<div class="columns">{"".join(columns)}</div>')


def _doctor(heading: str, findings: Iterable[Finding]) -> str:
    items = []
    for finding in sorted(findings, key=lambda finding: _RANK[finding.severity]):
        remedy = f'<p class="remedy">{words(finding.remedy)}</p>' if finding.remedy.strip() else ""
        items.append(
            f'<li class="finding {words(finding.severity)}"><p>'
            f'<span class="severity">{words(finding.severity)}</span> '
            f'<span class="topic">{words(finding.topic)}</span></p>'
            f"<p>{words(finding.text)}</p>{remedy}</li>"
        )
    if not items:
        return ""
    return f'<div><h3>{heading}</h3><ul class="findings">{"".join(items)}</ul></div>'


def shape_section(pictures: Mapping[str, Sheet], quality: int) -> str:
    """The pictures of the shape."""
    if not pictures:
        return ""
    figures = [
        figure(picture, _CAPTIONS.get(name, name), quality) for name, picture in pictures.items()
    ]
    return _section("shape", "Shape and colour", f'<div class="shape">{"".join(figures)}</div>')


def photo_card(name: str, comparison: Comparison, relative: float | None, quality: int) -> str:
    """One photo and what became of it."""
    share = "" if relative is None else f'<span class="share">{100 * relative:.1f} %</span>'
    figures = [figure(comparison.photo, "photo", quality)]
    if comparison.rendering is not None:
        figures.append(figure(comparison.rendering, "re-rendered", quality))
    if comparison.residual is not None:
        figures.append(figure(comparison.residual, "residual", quality))
    if comparison.light is not None:
        figures.append(figure(comparison.light, "estimated light", max(quality, 90), "light"))
    return (
        f'<article class="photo"><h3><bdi>{words(name)}</bdi>{share}</h3>'
        f'<div class="strip">{"".join(figures)}</div></article>'
    )


def photos_section(cards: list[str], count: int, residuals: Residuals) -> str:
    """Every photo beside its re-rendering."""
    told = []
    if residuals.relative is not None:
        percent = f"{100 * residuals.scale:g} %"
        told.append(
            "The re-rendering is albedo times the estimated shading. Residual: orange where the "
            "photo is brighter than its re-rendering, blue where it is darker; full colour at "
            f"{percent} of the photo’s white. The number beside a name is the residual’s root mean "
            "square relative to the photo’s, on the object."
        )
        told.append(
            "The estimated light is what somebody at the object sees: up is up, the middle looks "
            "at the camera, the right half is the camera’s left; negative light is shown black."
        )
    if len(cards) < count:
        told.append(f"{len(cards)} of {count} photos are shown, to keep this file small.")
    paragraphs = "".join(f'<p class="note">{text}</p>' for text in told)
    return _section("photos", "Photos and their explanation", paragraphs + "".join(cards))


def curve_section(curve: str) -> str:
    """The energy of every step."""
    return _section("energy", "Energy", curve) if curve else ""


def record_section(
    facts: Mapping[str, str], options: Mapping[str, object], versions: Mapping[str, str]
) -> str:
    """Facts, options and versions."""
    tables = [
        table("Facts", facts.items()),
        table("Options", flat(options)),
        table("Versions", versions.items()),
    ]
    if not any(tables):
        return ""
    return _section("record", "Record of the run", f'<div class="columns">{"".join(tables)}</div>')


def table(heading: str, rows: Iterable[tuple[str, object]]) -> str:
    """Names and values."""
    cells = "".join(
        f'<tr><th scope="row">{words(name)}</th><td>{words(value)}</td></tr>'
        for name, value in rows
    )
    if not cells:
        return ""
    return (
        f'<div><h3>{heading}</h3><div class="wide"><table class="record"><tbody>{cells}'
        "</tbody></table></div></div>"
    )


def flat(options: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Options within options, named with dots."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def figure(picture: Sheet, caption: str, quality: int, kind: str = "picture") -> str:
    """A picture with its caption; the kind is for the style sheet."""
    height, width = picture.shape[:2]
    return (
        f'<figure class="{kind}"><img src="{jpeg(picture, quality)}" alt="{words(caption)}" '
        f'width="{width}" height="{height}"><figcaption>{words(caption)}</figcaption></figure>'
    )


def _section(name: str, heading: str, content: str) -> str:
    return f'<section id="{name}"><h2>{heading}</h2>{content}</section>'
