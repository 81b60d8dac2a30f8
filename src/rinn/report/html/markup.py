"""HTML and SVG: text is escaped where it is put in, unless it is markup already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import markupsafe
from markupsafe import Markup

from rinn.errors import clip

UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
MAX_NAMES = 12
WITHOUT_END = {"input", "meta", "link", "br"}


def element(tag: str, *children: str | None, **attributes: object) -> Markup:
    """Write one element."""
    pairs = (
        f" {name.rstrip('_').replace('_', '-')}{_as_value(value)}"
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    end = "" if tag in WITHOUT_END else f"{join(children)}</{tag}>"
    return Markup(f"<{tag}{''.join(pairs)}>{end}")  # noqa: S704, every part is escaped


def join(parts: Iterable[str | None], between: str = "") -> Markup:
    """Put parts one after the other, escaping those that are not markup."""
    return escape(between).join(escape(part) for part in parts if part is not None)


def escape(text: str) -> Markup:
    """Escape text, with a replacement mark for control characters."""
    if isinstance(text, Markup):
        return text
    return markupsafe.escape(UNPRINTABLE.sub("\ufffd", text))


def list_names(names: Sequence[str]) -> Markup:
    """Write names with commas; of many, those after the first few in a line that opens."""
    if not names:
        return Markup("none")
    first = join((_show_name(name) for name in names[:MAX_NAMES]), ", ")
    others = names[MAX_NAMES:]
    if not others:
        return first
    hidden = join((_show_name(name) for name in others), ", ")
    return join([first, element("details", element("summary", f"and {len(others)} more"), hidden)])


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> Markup:
    """Write a table in a box that scrolls by itself where the page is narrow."""
    head = element("tr", *(element("th", name, scope="col") for name in headers))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    return scroll_box(element("table", element("thead", head), element("tbody", *body)), label)


def scroll_box(content: str, label: str, **attributes: object) -> Markup:
    """Put wide content in a box that scrolls, by keyboard too."""
    return element("div", content, class_="scroll", role="region", aria_label=label, tabindex=0,
                   **attributes)  # fmt: skip


def save_buttons(picture: str, name: str, *more: str) -> Markup:
    """Buttons with which the page's script saves a picture, by its id, as files of this name."""
    buttons = [
        element("button", kind, type="button", class_="small", data_save=kind.lower(),
                data_picture=picture, data_name=name, title=f"Save as {name}.{kind.lower()}",
                aria_label=f"Save the picture as {kind}" if kind != "CSV" else "Save as CSV")
        for kind in ("SVG", "PNG", *more)
    ]  # fmt: skip
    return element("div", *buttons, class_="save", role="group", aria_label="Save the picture")


def svg(
    width: float,
    height: float,
    label: str,
    *children: str,
    class_: str = "wide",
    **attributes: object,
) -> Markup:
    """Write a picture with its description; the style sheet says how far each class shrinks."""
    return element(
        "svg", *children, role="img", aria_label=label, class_=class_,
        viewBox=f"0 0 {width:g} {height:g}", width=width, height=height, **attributes,
    )  # fmt: skip


def key(kind: str, meaning: str) -> Markup:
    """Write a patch of colour with its meaning, for a legend."""
    return join([element("span", class_=f"key {kind}", aria_hidden="true"), meaning])


def paragraph(*children: str, class_: str | None = None) -> Markup:
    """Write a paragraph, with no line break within an option such as --null."""
    return element("p", *map(_keep_options, children), class_=class_)


def _keep_options(text: str) -> Markup:
    if isinstance(text, Markup):
        return text
    marked = OPTION.sub(r'<span class="option">\g<0></span>', str(escape(text)))
    return Markup(marked)  # noqa: S704, escaped above


def _show_name(name: str) -> Markup:
    short = clip(name)
    return element("span", short, class_="name", title=name if short != name else None)


def _as_value(value: object) -> str:
    if value is True:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f'="{escape(text)}"'
