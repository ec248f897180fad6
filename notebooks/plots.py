"""Small SVG charts for the notebooks beside it: lines, bars, and who had which partition when.

Nothing to install: a browser draws them, and they are stored with a notebook as they were drawn.
"""

from html import escape
from math import log10

from IPython.display import SVG

WIDTH, MARGIN = 720, 56
COLOURS = (
    *("#004488", "#bb5566", "#997700", "#117733", "#882255", "#44aa99"),
    *("#777777", "#ee8866", "#6699cc", "#aaaa00", "#332288", "#000000"),
)


def lines(curves, *, x_label, y_label, is_log=False):
    """Draw each curve, a list of (x, y), by its name; on two logarithmic axes if wanted."""
    height = 340
    points = [point for curve in curves.values() for point in curve]
    x = _scale([at for at, _ in points], MARGIN, WIDTH - 150, is_log=is_log)
    y = _scale([at for _, at in points], height - MARGIN, MARGIN, is_log=is_log, has_zero=True)
    drawn = [*_axes(x, y, height), _text(WIDTH - 150, height - 8, x_label, anchor="end")]
    drawn.append(_text(8, 16, y_label))
    beside = _apart({name: y(curve[-1][1]) for name, curve in curves.items() if curve})
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        if not curve:
            continue
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [
            f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>' for a, b in curve
        ]
        drawn.append(_text(x(curve[-1][0]) + 8, beside[name] + 4, name, colour=colour))
    return _svg(drawn, height)


def events(panels, *, lanes, label, unit="ms"):
    """Draw when events were where: panel name -> rows (lane, from, to, is it the one).

    A panel has a row for each of `lanes`, and all panels one time axis. The one event has its
    colour and its duration; the others are pale behind it.
    """
    spans = [span for rows in panels.values() for span in rows]
    x = _scale([at for _, start, end, _ in spans for at in (start, end)], 110, WIDTH - 60)
    drawn, top = [_text(8, 16, label)], 40
    colours = dict(zip(lanes, COLOURS, strict=False))
    for name, rows in panels.items():
        drawn.append(_text(8, top, name, weight="bold"))
        place = {lane: top + 8 + 22 * number for number, lane in enumerate(lanes)}
        drawn += [_text(8, place[lane] + 13, lane) for lane in lanes]
        for lane, start, end, is_the_one in sorted(rows, key=lambda row: row[3]):
            title = f"{lane}: {start:.2f} to {end:.2f} {unit}"
            drawn.append(
                _box(
                    *(x(start), place[lane], max(x(end) - x(start), 1), 16),
                    colours[lane] if is_the_one else "#dddddd",
                    title=title,
                )
            )
            if is_the_one:
                drawn.append(_text(x(end) + 4, place[lane] + 13, f"{end - start:.2f} {unit}"))
        top = place[lanes[-1]] + 44
    drawn += [_text(x(at), top - 14, f"{at:g} {unit}", anchor="middle") for at in x.ticks]
    return _svg(drawn, top)


def loads(panels, *, label, limit, limit_label):
    """Draw small charts below each other: panel name -> {member: [(x, y)]}, a line a member.

    All have the same axes, and a dashed line at `limit`.
    """
    points = [point for curves in panels.values() for curve in curves.values() for point in curve]
    x = _scale([at for at, _ in points], MARGIN, WIDTH - 24)
    members = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    colours = dict(zip(members, _colours(len(members)), strict=True))
    drawn, top, tall = [_text(8, 16, label)], 30, 110
    for name, curves in panels.items():
        y = _scale([limit, *(at for _, at in points)], top + tall, top + 20, has_zero=True)
        drawn.append(_text(8, top + 12, name, weight="bold"))
        drawn += [_text(MARGIN - 6, y(at) + 4, _shown(at), anchor="end") for at in y.ticks]
        drawn.append(
            f'<line x1="{MARGIN}" x2="{WIDTH - 24}" y1="{y(limit):.1f}" y2="{y(limit):.1f}"'
            ' stroke="#777777" stroke-dasharray="4 4"/>'
        )
        drawn.append(_text(WIDTH - 24, y(limit) - 4, limit_label, anchor="end"))
        for member, curve in curves.items():
            path = " ".join(f"{x(at):.0f},{y(value):.0f}" for at, value in curve)
            drawn.append(
                f'<polyline points="{path}" fill="none" stroke="{colours[member]}">'
                f"<title>{escape(member)}</title></polyline>"
            )
        top += tall + 14
    drawn += [_text(x(at), top + 8, f"{at:g} h", anchor="middle") for at in x.ticks]
    return _svg(drawn, top + 20)


def bars(groups, *, label):
    """Draw a bar for each value of each group: group name -> {bar name: value}."""
    names = list(dict.fromkeys(name for values in groups.values() for name in values))
    colours = dict(zip(names, COLOURS, strict=False))
    longest = max(value for values in groups.values() for value in values.values()) or 1
    drawn, top = [_text(8, 16, label)], 34
    for group, values in groups.items():
        drawn.append(_text(8, top + 12, group, weight="bold"))
        top += 20
        for name, value in values.items():
            width = (WIDTH - 320) * value / longest
            drawn.append(_text(20, top + 12, name))
            drawn.append(_box(200, top + 2, max(width, 1), 12, colours[name]))
            drawn.append(_text(206 + width, top + 12, f"{value:,.4g}"))
            top += 18
        top += 8
    return _svg(drawn, top)


def timeline(intervals, *, until_s, label):
    """Draw who had each partition when, from rows (partition, member, from second, to second)."""
    members = sorted({member for _, member, _, _ in intervals})
    colours = dict(zip(members, _colours(len(members)), strict=True))
    partitions = sorted({partition for partition, *_ in intervals})
    x = _scale([0, until_s], 110, WIDTH - 24)
    drawn = [_text(8, 16, label)]
    room = 24 + 7 * max(map(len, members))
    in_line = max((WIDTH - 110) // room, 1)
    for place, name in enumerate(members):
        left = 110 + room * (place % in_line)
        drawn.append(_box(left, 24 + 16 * (place // in_line), 10, 10, colours[name]))
        drawn.append(_text(left + 14, 33 + 16 * (place // in_line), name))
    top = 48 + 16 * ((len(members) - 1) // in_line)
    row = {partition: top + 16 * place for place, partition in enumerate(partitions)}
    drawn += [_text(8, row[partition] + 11, partition) for partition in partitions]
    for partition, member, start, end in intervals:
        left, right = x(start), x(min(end, until_s))
        title = f"{partition}: {member}, {start:.1f} s to {end:.1f} s"
        drawn.append(
            _box(left, row[partition], max(right - left, 0.5), 14, colours[member], title=title)
        )
    bottom = top + 16 * len(partitions)
    drawn += [_text(x(at), bottom + 14, f"{at:g} s", anchor="middle") for at in _ticks(0, until_s)]
    return _svg(drawn, bottom + 22)


def _colours(count):
    """Return so many colours that differ; of many, those beside each other differ most."""
    if count <= len(COLOURS):
        return COLOURS[:count]
    return [f"hsl({137 * place % 360}, 60%, {35 + 20 * (place % 3)}%)" for place in range(count)]


def _scale(values, low_at, high_at, *, is_log=False, has_zero=False):
    """Return a function from values to places; it has the lowest and highest value and ticks."""
    low, high = min(values), max(values)
    if has_zero and not is_log:
        low = 0
    measure = log10 if is_log else float
    room = (measure(high) - measure(low)) or 1

    def at(value):
        return low_at + (high_at - low_at) * (measure(value) - measure(low)) / room

    at.ticks = _log_ticks(low, high) if is_log else _ticks(low, high)
    return at


def _log_ticks(low, high):
    """Return 1, 2 and 5 times powers of ten between the values; where these are many, powers.

    Where there are less than two, the values themselves.
    """
    powers = [10**power for power in range(int(log10(low)) - 2, int(log10(high)) + 2)]
    fine = [n * power for power in powers for n in (1, 2, 5) if low <= n * power <= high]
    if len(fine) < 2:
        return [low, high]
    return fine if len(fine) <= 7 else [power for power in powers if low <= power <= high]


def _apart(places, room=14):
    """Return the places of labels, each at least so far from the one above it."""
    found, last = {}, None
    for name, at in sorted(places.items(), key=lambda each: each[1]):
        last = at if last is None else max(at, last + room)
        found[name] = last
    return found


def _ticks(low, high):
    step = 10 ** int(log10((high - low) or 1))
    step = next(size for size in (step / 5, step / 2, step, 2 * step) if (high - low) / size <= 6)
    first = int(low / step)
    return [step * n for n in range(first, int(high / step) + 1) if step * n >= low]


def _axes(x, y, height):
    for value in y.ticks:
        yield (
            f'<line x1="{MARGIN}" x2="{WIDTH - 150}" y1="{y(value):.1f}" y2="{y(value):.1f}"'
            ' stroke="#dddddd"/>'
        )
        yield _text(MARGIN - 6, y(value) + 4, _shown(value), anchor="end")
    for value in x.ticks:
        yield _text(x(value), height - MARGIN + 18, _shown(value), anchor="middle")


def _shown(value):
    return f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"


def _box(left, top, width, height, colour, *, title=None):
    hint = "" if title is None else f"<title>{escape(title)}</title>"
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height}"'
        f' fill="{colour}">{hint}</rect>'
    )


def _text(left, top, text, *, colour="#333333", anchor="start", weight="normal"):
    return (
        f'<text x="{left:.1f}" y="{top:.1f}" fill="{colour}" text-anchor="{anchor}"'
        f' font-weight="{weight}">{escape(str(text))}</text>'
    )


def _svg(drawn, height):
    return SVG(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        ' font-family="sans-serif" font-size="12" style="background: #ffffff">'
        f"{''.join(drawn)}</svg>"
    )
