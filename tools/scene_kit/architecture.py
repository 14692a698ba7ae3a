"""The pieces of the building. Each is made once, in the frame of one bay, and placed many times by courtyard.py.

A bay's frame: X along the wall, Y up from the court's floor, +Z towards the court; the arcade's face stands in z = 0,
the columns' axes at x = +-BAY / 2, z = COLUMN_Z. Every function returns shapes by material name.
"""
import numpy as np

from .shapes import arch_moulding, arch_panel, box, extrude, grid, join, lathe, polygon, tube

BAY = 2.4
STEP = 0.16  # the walks lie this much above the court
SPRING = 2.75  # where the arches leave the capitals
RADIUS = 1.0
WALL = 0.46  # thickness of the arcade
COLUMN_Z = -WALL / 2
WALK = 3.2  # from the arcade's back to the walk's rear wall
TERRACE = 4.36  # floor of the upper storey
SETBACK = 1.45  # its wall stands this far behind the arcade's face
EAVES = 7.45
VAULT_RISE = 1.14


def column():
    """Attic base, shaft with entasis, leafy capital, impost block. Stands at the origin, from STEP to SPRING."""
    bottom, top, r0, r1 = STEP, 2.24, 0.165, 0.138
    plinth = box([0.50, 0.09, 0.50], 0.008).moved(y=bottom + 0.045)
    y = bottom + 0.09
    base = [(0.235, y)] + _bulge(0.205, y + 0.035, 0.04, 0.035) + [(0.205, y + 0.072), (0.19, y + 0.082)]
    base += [(0.185, y + 0.10)] + _bulge(0.178, y + 0.125, 0.022, 0.022) + [(0.178, y + 0.152), (r0 + 0.008, y + 0.165)]
    rise = np.linspace(0.0, 1.0, 6)
    shaft = [(r0 - (r0 - r1) * t**1.8, y + 0.165 + (top - y - 0.165) * t) for t in rise]
    neck = _bulge(r1 + 0.004, top + 0.016, 0.018, 0.016) + [(r1, top + 0.04)]
    bell = [(r1 - 0.006 + 0.10 * t**3, top + 0.04 + 0.27 * t) for t in np.linspace(0, 1, 7)] + [(0.10, top + 0.31)]
    turned = lathe(base + shaft + neck + bell, 22)
    abacus = box([0.43, 0.055, 0.43], 0.010).moved(y=top + 0.335)
    impost = join(
        [box([0.38, 0.085, 0.40], 0.006).moved(y=top + 0.405), box([0.46, 0.055, 0.47], 0.008).moved(y=SPRING - 0.030)]
    )
    leaves = [_leaf(r1 + 0.004, top + 0.035, 0.15, 0.075).turned("y", 45 * i) for i in range(8)]
    leaves += [_leaf(r1 + 0.012, top + 0.10, 0.19, 0.085).turned("y", 45 * i + 22.5) for i in range(8)]
    scrolls = [_scroll().moved(0.225, top + 0.275).turned("y", 90 * i + 45) for i in range(4)]
    return {"limestone": join([plinth, turned, abacus, impost] + leaves + scrolls)}


def _bulge(radius, y, out, half):
    """A torus moulding's outline: half a circle from below to above."""
    return [(radius + out * np.cos(a), y + half * np.sin(a)) for a in np.linspace(-np.pi / 2, np.pi / 2, 6)]


def _leaf(radius, y, height, width):
    """One leaf of a capital: a small curved sheet with a rolled tip, thick enough to need no back."""
    t = np.linspace(0, 1, 6)
    lean = radius + 0.012 * t + 0.055 * t**4
    rise = y + height * (t - 0.15 * t**6)
    half = width / 2 * np.array([0.9, 1.02, 1.05, 0.98, 0.75, 0.25])
    across = np.array([-1.0, -0.35, 0.35, 1.0])
    ridge = np.array([-0.012, 0.010, 0.010, -0.012])
    points = np.stack([lean[:, None] + ridge, np.tile(rise[:, None], 4), half[:, None] * across], -1)
    normals = np.cross(np.gradient(points, axis=0), np.gradient(points, axis=1))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return grid(points, points[..., [2, 1]], normals)


def _scroll():
    drum = lathe([(0.0, -0.024), (0.036, -0.022), (0.040, 0.0), (0.036, 0.022), (0.0, 0.024)], 10)
    return drum.turned("x", 90)


def arch_bay():
    """The wall between two column axes from the capitals to the string course, with its arch trimmed on both sides."""
    height = TERRACE - 0.30 - SPRING
    front = arch_panel(BAY, height, RADIUS, 0.0, 20).moved(y=SPRING)
    back = front.turned("y", 180).moved(z=-WALL)
    soffit = arch_moulding([(RADIUS, 0.0), (RADIUS, -WALL)], 20).moved(y=SPRING)
    profile = [
        (1.19, 0.0),
        (1.19, 0.035),
        (1.172, 0.052),
        (1.12, 0.052),
        (1.112, 0.036),
        (1.06, 0.036),
        (1.052, 0.024),
        (1.006, 0.024),
        (1.0, 0.0),
    ]
    trim = arch_moulding(profile, 20).moved(y=SPRING)
    key = join([box([0.17, 0.30, 0.10], 0.008), box([0.21, 0.05, 0.13], 0.008).moved(y=0.165)]).moved(
        y=SPRING + RADIUS + 0.10, z=0.025
    )
    trims = join([trim, key])
    return {
        "plaster cream": join([front, back]),
        "limestone grey": join([soffit, trims, trims.turned("y", 180).moved(z=-WALL)]),
    }


def roundel():
    """Glazed blue disc in a stone ring, for the spandrel above a column; faces +Z at the origin."""
    ring = lathe([(0.235, 0.0), (0.235, 0.028), (0.218, 0.042), (0.196, 0.034), (0.182, 0.012), (0.182, 0.004)], 24)
    dome = lathe([(0.184, 0.004), (0.150, 0.012), (0.09, 0.020), (0.0, 0.024)], 24)
    star = [
        lathe([(0.030, 0.0), (0.026, 0.012), (0.0, 0.017)], 8).moved(x=0.105 * np.cos(a), y=0.016, z=0.105 * np.sin(a))
        for a in np.linspace(0, 2 * np.pi, 6, endpoint=False)
    ]
    star.append(lathe([(0.048, 0.0), (0.04, 0.018), (0.0, 0.026)], 12).moved(y=0.02))
    return {
        "limestone grey": ring.turned("x", 90),
        "enamel blue": dome.turned("x", 90),
        "enamel white": join(star).turned("x", 90),
    }


def vault_bay():
    """A groin vault over one bay of the walk: ruled surfaces of two crossing barrels of one height."""
    a, b, rise = BAY / 2, WALK / 2, VAULT_RISE
    angles = np.linspace(0, np.pi, 21)
    cosine, sine = np.cos(angles), np.sin(angles)
    parts = []
    for half, other, turn in ((a, b, 0), (a, b, 180), (b, a, 90), (b, a, 270)):
        near = np.stack([half * cosine, rise * sine, other * np.abs(cosine)], -1)
        far = np.stack([half * cosine, rise * sine, np.full(21, other)], -1)
        normal = -np.stack([cosine / half, sine / rise, np.zeros(21)], -1)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(near[:, :2], axis=0), axis=1))])
        points = np.stack([near, far])
        uvs = np.stack([np.stack([length, points[i, :, 2]], -1) for i in range(2)])
        parts.append(grid(points, uvs, np.stack([normal, normal])).turned("y", turn))
    return {"plaster vault": join(parts).moved(y=SPRING, z=-WALL - b)}


def vault_rib():
    """The band of stone across the walk between two vaults, and the corbel it springs from; at x = 0."""
    rib = arch_moulding([(1.0, 0.15), (0.93, 0.15), (0.93, -0.15), (1.0, -0.15)], 18).transformed(
        np.diag([WALK / 2, VAULT_RISE, 1.0])
    )
    rib = rib.turned("y", 90).moved(y=SPRING, z=-WALL - WALK / 2)
    corbel = join(
        [
            box([0.32, 0.07, 0.16], 0.008).moved(y=SPRING - 0.035),
            box([0.26, 0.09, 0.12], 0.008).moved(y=SPRING - 0.115),
            box([0.18, 0.10, 0.07], 0.008).moved(y=SPRING - 0.21),
        ]
    ).moved(z=-WALL - WALK + 0.06)
    return {"limestone grey": join([rib, corbel])}


def rear_wall_bay():
    """The walk's rear wall: plaster above a stone dado."""
    z = -WALL - WALK
    wall = polygon([[-BAY / 2, 1.15, z], [BAY / 2, 1.15, z], [BAY / 2, TERRACE, z], [-BAY / 2, TERRACE, z]])
    dado = polygon(
        [[-BAY / 2, STEP, z + 0.03], [BAY / 2, STEP, z + 0.03], [BAY / 2, 1.1, z + 0.03], [-BAY / 2, 1.1, z + 0.03]]
    )
    rail = extrude([(0.03, 1.08), (0.055, 1.10), (0.055, 1.135), (0.035, 1.16), (0.0, 1.16)], BAY).moved(z=z)
    return {"plaster ochre": wall, "ashlar": dado, "limestone grey": rail}


def door():
    """A double door of planks in a stone frame with a round head of glass bars; stands against a wall in z = 0."""
    leaf = [box([0.66, 2.1, 0.06], 0.006).moved(x=s * 0.34, y=1.05 + STEP, z=0.03) for s in (-1, 1)]
    panels = [
        box([0.48, 0.78, 0.03], 0.012).moved(x=s * 0.34, y=STEP + h, z=0.065) for s in (-1, 1) for h in (0.58, 1.55)
    ]
    frame = [box([0.18, 2.18, 0.16], 0.01).moved(x=s * 0.79, y=1.09 + STEP, z=0.05) for s in (-1, 1)]
    lintel = box([1.92, 0.20, 0.20], 0.01).moved(y=2.28 + STEP, z=0.06)
    cap = extrude(
        [(0.0, 0.0), (0.12, 0.0), (0.14, 0.03), (0.14, 0.06), (0.19, 0.10), (0.19, 0.13), (0.0, 0.15)], 2.0
    ).moved(y=2.38 + STEP)
    knobs = [tube([[s * 0.06, 1.1 + STEP, 0.06], [s * 0.06, 1.1 + STEP, 0.13]], 0.022, 10, True) for s in (-1, 1)]
    return {"wood dark": join(leaf + panels), "limestone grey": join(frame + [lintel, cap]), "brass": join(knobs)}


def string_course(length):
    """The moulding between the storeys, drawn along X; its underside meets the arch panels."""
    y = TERRACE - 0.30
    profile = [(0.0, y), (0.035, y), (0.035, y + 0.07), (0.05, y + 0.085)]
    profile += [(0.05 + 0.085 * (1 - np.cos(a)), y + 0.095 + 0.075 * np.sin(a)) for a in np.linspace(0, np.pi / 2, 6)]
    profile += [(0.17, y + 0.175), (0.17, y + 0.25)] + [
        (0.19 + 0.012 * np.sin(a), y + 0.275 - 0.025 * np.cos(a)) for a in np.linspace(0.3, 2.8, 5)
    ]
    return extrude(profile + [(0.17, TERRACE), (-0.05, TERRACE)], length)


def dentils():
    blocks = [
        box([0.07, 0.07, 0.05]).moved(x=-BAY / 2 + 0.075 + 0.15 * i, y=TERRACE - 0.175, z=0.065) for i in range(16)
    ]
    return {"limestone grey": join(blocks)}


def railing_bay():
    """Thin iron bars (16 mm) under a round hand rail, from post to post."""
    rails = [tube([[-BAY / 2, y, 0], [BAY / 2, y, 0]], r, 8) for y, r in ((0.08, 0.010), (0.84, 0.008), (0.95, 0.021))]
    bars = [tube([[-BAY / 2 + 0.12 * i, 0.08, 0], [-BAY / 2 + 0.12 * i, 0.95, 0]], 0.008, 6) for i in range(1, 20)]
    post = lathe(
        [
            (0.026, 0.0),
            (0.026, 0.04),
            (0.018, 0.06),
            (0.018, 0.98),
            (0.03, 1.0),
            (0.034, 1.03),
            (0.02, 1.065),
            (0.0, 1.075),
        ],
        12,
    )
    return {"iron": join(rails + bars + [post.moved(x=-BAY / 2)])}


def upper_bay():
    """The upper storey's wall with a round-headed window, its frame, sill and two open shutters."""
    floor, top, z = TERRACE, EAVES - 0.28, -SETBACK
    sill, spring, radius = 0.78, 1.0, 0.46
    wall = arch_panel(BAY, top - floor - sill, radius, spring, 16).moved(y=floor + sill, z=z)
    below = polygon(
        [[-BAY / 2, floor, z], [BAY / 2, floor, z], [BAY / 2, floor + sill, z], [-BAY / 2, floor + sill, z]]
    )
    reveal = [arch_moulding([(radius, 0.0), (radius, -0.24)], 16).moved(y=floor + sill + spring, z=z)]
    for s in (-1, 1):
        points = [
            [s * radius, floor + sill, z],
            [s * radius, floor + sill, z - 0.24],
            [s * radius, floor + sill + spring, z - 0.24],
            [s * radius, floor + sill + spring, z],
        ]
        reveal.append(polygon(points if s < 0 else points[::-1]))
    trim = arch_moulding(
        [
            (radius + 0.13, 0.0),
            (radius + 0.13, 0.035),
            (radius + 0.09, 0.045),
            (radius + 0.08, 0.03),
            (radius + 0.01, 0.025),
            (radius, 0.0),
        ],
        16,
    )
    trims = [trim.moved(y=floor + sill + spring, z=z)]
    trims += [
        box([0.13, spring, 0.06], 0.008).moved(x=s * (radius + 0.065), y=floor + sill + spring / 2).moved(z=z + 0.005)
        for s in (-1, 1)
    ]
    trims += [
        box([1.36, 0.09, 0.34], 0.012).moved(y=floor + sill - 0.03, z=z - 0.02),
        box([0.13, 0.20, 0.09], 0.008).moved(y=floor + sill + spring + radius + 0.09, z=z + 0.03),
    ]
    glass_y = floor + sill
    pane, bars = _casement(radius, spring)
    shutters = [
        _shutter(radius, spring).turned("y", -s * 14).moved(x=s * (radius + 0.02), y=glass_y, z=z + 0.06)
        if s > 0
        else _shutter(radius, spring).scaled(-1, 1, 1).turned("y", 14).moved(x=-(radius + 0.02), y=glass_y, z=z + 0.06)
        for s in (-1, 1)
    ]
    return {
        "plaster sienna": join([wall, below]),
        "limestone grey": join(trims + reveal),
        "glass dark": pane.moved(y=glass_y, z=z - 0.2),
        "wood dark": bars.moved(y=glass_y, z=z - 0.17),
        "shutter green": join(shutters),
    }


def _casement(radius, spring):
    """A round-headed pane of glass and its glazing bars, its foot at the origin."""
    angles = np.linspace(0, np.pi, 17)
    pane = polygon(
        [[-radius, 0.0, 0.0], [radius, 0.0, 0.0]]
        + [[radius * np.cos(a), spring + radius * np.sin(a), 0.0] for a in angles]
    )
    bars = [
        box([0.05, spring + radius, 0.05]).moved(y=(spring + radius) / 2),
        box([2 * radius, 0.06, 0.05]).moved(y=spring),
    ]
    bars += [box([2 * radius, 0.03, 0.035]).moved(y=h) for h in (0.34, 0.68)]
    bars += [box([0.06, spring, 0.06]).moved(x=s * (radius - 0.03), y=spring / 2) for s in (-1, 1)]
    return pane, join(bars)


def _shutter(width, height):
    """A louvred leaf from x = 0 to `width`, from y = 0 up."""
    parts = [box([0.06, height, 0.035], 0.004).moved(x=x, y=height / 2) for x in (0.03, width - 0.03)]
    parts += [box([width, 0.07, 0.035], 0.004).moved(x=width / 2, y=y) for y in (0.035, height / 2, height - 0.035)]
    slats = [
        box([width - 0.1, 0.008, 0.05]).turned("x", 38).moved(x=width / 2, y=0.10 + 0.062 * i)
        for i in range(int((height - 0.18) / 0.062) + 1)
    ]
    return join(parts + slats)


def main_cornice(length):
    """Under the eaves of the upper storey, drawn along X."""
    y, z = EAVES - 0.28, -SETBACK
    profile = [(0.0, y - 0.10), (0.03, y - 0.10), (0.03, y - 0.02), (0.05, y)]
    profile += [(0.05 + 0.11 * (1 - np.cos(a)), y + 0.10 * np.sin(a) + 0.01) for a in np.linspace(0, np.pi / 2, 6)]
    return extrude(profile + [(0.19, y + 0.12), (0.19, y + 0.20), (-0.1, y + 0.22)], length).moved(z=z)


SLOPE = 19.0  # degrees
OVERHANG = 0.72


def roof_bay(columns=10):
    """Rows of round tiles (0.24 m apart) over boards and rafters: the eaves' edge at z = -SETBACK + OVERHANG, rising
    away from the court."""
    rows, pitch, width = 4, 0.40, 0.24
    span = columns * width
    arc = np.linspace(0, np.pi, 5)
    parts = []
    for row in range(rows):
        for column in range(columns):
            x, z0, z1 = (column + 0.5) * width - span / 2, -pitch * row, -pitch * (row + 1) - 0.05
            lift = 0.018
            parts.append(_tile(x, z0, z1, width * 0.40, width * 0.33, lift, arc))
            parts.append(_tile(x + width / 2, z0 + 0.03, z1, width * 0.36, width * 0.42, 0.0, arc, valley=True))
    boards = box([span, 0.03, rows * pitch]).moved(y=-0.075, z=-rows * pitch / 2 - 0.04)
    rafters = [
        box([0.09, 0.12, 1.1], 0.006).moved(x=-span / 2 + 0.24 + 0.48 * i, y=-0.15, z=-0.62)
        for i in range(columns // 2)
    ]
    place = dict(y=EAVES + 0.02, z=-SETBACK + OVERHANG)
    return {
        "clay": join(parts).turned("x", SLOPE).moved(**place),
        "wood": join([boards] + rafters).turned("x", SLOPE).moved(**place),
    }


def _tile(x, z0, z1, r0, r1, lift, arc, valley=False):
    """Half a cone from the lower edge z0 to z1, with the rim's thickness shown at the lower edge."""
    sign = -1.0 if valley else 1.0
    base = 0.012 if valley else -0.015
    ring = np.stack([np.cos(arc), sign * np.sin(arc) * 0.8, np.zeros(len(arc))], -1)

    def at(radius, z, height):
        return ring * [radius, radius, 1] + [x, base + height, z]

    outer0, outer1 = at(r0, z0, lift * 1.5 + 0.018), at(r1, z1, 0.0)
    normal = np.stack([np.cos(arc) * sign, np.sin(arc), np.zeros(len(arc))], -1)
    points = np.stack([outer0, outer1])
    u = np.stack([arc * r0, arc * r0])
    v = np.stack([np.full(len(arc), z0), np.full(len(arc), z1)])
    sheet = grid(points, np.stack([u + 3.1 * x, v], -1), np.stack([normal, normal]))
    lip = np.stack([outer0, outer0 - ring * 0.016])
    rim = grid(lip, np.stack([u, u * 0 + 0.01], -1), np.tile([0.0, 0.0, 1.0], (2, len(arc), 1)), flip=not valley)
    return join([sheet, rim])


def corner_pier():
    """The square pier in a corner of the court (centre at the origin), with base and impost like the columns'."""
    side = 0.66
    parts = [box([side, SPRING - 0.36 - STEP, side], 0.015).moved(y=STEP + 0.2 + (SPRING - 0.36 - STEP) / 2)]
    base = [
        box([side + h, t, side + h], 0.012).moved(y=STEP + y) for h, t, y in ((0.10, 0.16, 0.08), (0.05, 0.05, 0.185))
    ]
    cap = [
        box([side + h, t, side + h], 0.012).moved(y=SPRING - y) for h, t, y in ((0.04, 0.05, 0.145), (0.10, 0.12, 0.06))
    ]
    wall = box([side, TERRACE - 0.3 - SPRING, side]).moved(y=(SPRING + TERRACE - 0.3) / 2)
    return {"ashlar": join(parts), "limestone": join(base + cap), "plaster cream": wall}


def walk_end():
    """The wall that closes a walk, with an arched passage: 3.66 m wide, 0.4 m thick, facing +Z at z = 0 and -Z
    behind."""
    width, depth, radius, spring = WALL + WALK, 0.4, 1.05, 2.45
    front = arch_panel(width, TERRACE, radius, spring, 20)
    soffit = arch_moulding([(radius, 0.0), (radius, -depth)], 20).moved(y=spring)
    jambs = [
        polygon([[-radius, 0, 0], [-radius, 0, -depth], [-radius, spring, -depth], [-radius, spring, 0]]),
        polygon([[radius, 0, -depth], [radius, 0, 0], [radius, spring, 0], [radius, spring, -depth]]),
    ]
    return {
        "plaster cream": join([front, front.turned("y", 180).moved(z=-depth)]),
        "limestone grey": join([soffit] + jambs),
    }
