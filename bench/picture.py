"""A bar chart as SVG, by hand: panels beside each other, one bar for each name, on a logarithmic scale."""

import html
import math

BAR, GAP, LABELS, PANEL, MARGIN, TOP = 16, 6, 130, 220, 24, 64
OURS, OTHERS, INK, GRID = "#c2410c", "#94a3b8", "#1e293b", "#e2e8f0"


def text(x, y, words, size=12, anchor="start", color=INK, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}">{html.escape(words)}</text>')


def rectangle(x, y, width, height, color):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>'


class Scale:
    """Microseconds to pixels; every power of ten is as wide as the others."""

    def __init__(self, values):
        self.low = 10 ** math.floor(math.log10(min(values)))
        self.high = 10 ** math.ceil(math.log10(max(values)))

    def __call__(self, value):
        room = PANEL - 3 * MARGIN
        return room * math.log(value / self.low) / math.log(max(self.high, 10 * self.low) / self.low)

    def ticks(self):
        tick = self.low
        while tick <= self.high:
            yield tick
            tick *= 10


def panel(left, title, names, values, ours, scale):
    height = len(names) * (BAR + GAP)
    parts = [text(left, TOP - 14, title, 13, weight="bold")]
    for tick in scale.ticks():
        x = left + scale(tick)
        parts.append(rectangle(x, TOP - 4, 1, height + 6, GRID))
        parts.append(text(x, TOP + height + 16, f"{tick:g}", 10, "middle"))
    for row, name in enumerate(names):
        y = TOP + row * (BAR + GAP)
        if name not in values:
            continue
        width = max(scale(values[name]), 1)
        parts.append(rectangle(left, y, width, BAR, OURS if name == ours else OTHERS))
        parts.append(text(left + width + 4, y + BAR - 4, f"{values[name]:.1f}", 11))
    return parts


def bar_chart(title, panels, names, ours):
    """`panels`: {title: {name: value}}. Names without a value in a panel have no bar there."""
    scale = Scale([value for values in panels.values() for value in values.values()])
    width, height = LABELS + len(panels) * PANEL + MARGIN, TOP + len(names) * (BAR + GAP) + 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="system-ui, sans-serif">',
             rectangle(0, 0, width, height, "#ffffff"), text(MARGIN / 2, 22, title, 15, weight="bold")]
    for row, name in enumerate(names):
        y = TOP + row * (BAR + GAP) + BAR - 4
        parts.append(text(LABELS - 8, y, name, 12, "end", weight="bold" if name == ours else "normal"))
    for column, (heading, values) in enumerate(panels.items()):
        parts += panel(LABELS + column * PANEL, heading, names, values, ours, scale)
    return "\n".join([*parts, "</svg>\n"])
