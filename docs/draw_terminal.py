#!/usr/bin/env python3
"""draw_terminal.py TITLE <TEXT >PICTURE.svg: a terminal that shows the text. What a program printed stays text: it can be searched, and a change of it
is a change of lines."""

import re
import sys
from xml.sax.saxutils import escape

FONT_SIZE = 14
CHARACTER = FONT_SIZE * 0.602  # of the fonts named below, which are equally wide
LINE = 20
MARGIN = 16
TITLE_BAR = 34
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

# The first group of the first pattern that matches a line is drawn in the colour.
COLOURS = [
    (re.compile(r"^ *[\d.]+s  (ok)\b"), "#7ee787"),
    (re.compile(r"^ *[\d.]+s  (FAILED)\b"), "#ff7b72"),
    (re.compile(r"^ *verdict +(Passed)"), "#7ee787"),
    (re.compile(r"^ *verdict +(.*)"), "#ff7b72"),
    (re.compile(r"^ *(?:lost|duplicated) +(0)$"), "#7ee787"),
    (re.compile(r"^ *(?:lost|duplicated) +(.*)"), "#ff7b72"),
]


def coloured(line: str) -> str:
    for pattern, colour in COLOURS:
        if found := pattern.match(line):
            begin, end = found.span(1)
            middle = f'<tspan fill="{colour}">{escape(line[begin:end])}</tspan>'
            return escape(line[:begin]) + middle + escape(line[end:])
    return escape(line)


def draw(text: str, title: str) -> str:
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    width = round(2 * MARGIN + max(len(line) for line in [title, *lines]) * CHARACTER)
    height = TITLE_BAR + MARGIN + LINE * len(lines) + MARGIN // 2
    drawn = "\n".join(
        f'<text x="{MARGIN}" y="{TITLE_BAR + MARGIN + LINE * row}" xml:space="preserve">{coloured(line)}</text>'
        for row, line in enumerate(lines, start=0)
        if line
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">
<title>{escape(title)}</title>
<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>
<rect width="{width}" height="{TITLE_BAR}" rx="8" fill="#21262d"/>
<g font-family="{FONTS}" font-size="{FONT_SIZE}" fill="#c9d1d9">
<text x="{MARGIN}" y="22" fill="#8b949e">$ {escape(title)}</text>
{drawn}
</g>
</svg>
"""


if __name__ == "__main__":
    sys.stdout.write(draw(sys.stdin.read(), sys.argv[1]))
