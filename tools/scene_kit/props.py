"""What stands and moves in the court: fountain, lanterns, wheel, cart, pots with trees, benches. Shapes by material
name, origin on the ground unless said otherwise."""
import numpy as np

from .shapes import Shape, box, disc, grid, join, lathe, polygon, rotation, sphere, tube


def fountain():
    """A round basin, a baluster and an upper bowl; the water's rings come from its normals."""
    step = lathe([(2.02, 0.0), (2.02, 0.13), (1.995, 0.155), (1.97, 0.16), (1.5, 0.16)], 64)
    basin = [
        (1.62, 0.16),
        (1.62, 0.22),
        (1.59, 0.25),
        (1.55, 0.27),
        (1.53, 0.31),
        (1.53, 0.50),
        (1.545, 0.53),
        (1.59, 0.56),
        (1.62, 0.57),
    ]
    basin += [(1.62 + 0.03 * np.cos(a), 0.60 + 0.03 * np.sin(a)) for a in np.linspace(-1.2, 1.4, 6)]
    basin += (
        [(1.56, 0.632), (1.40, 0.632)]
        + [(1.40 - 0.03 * np.sin(a), 0.602 + 0.03 * np.cos(a)) for a in np.linspace(0.2, 1.57, 5)]
        + [(1.37, 0.16)]
    )
    panels = [box([0.42, 0.13, 0.02], 0.008).moved(y=0.405, z=1.535).turned("y", 22.5 * i) for i in range(16)]
    stem = [
        (0.36, 0.16),
        (0.36, 0.42),
        (0.34, 0.46),
        (0.26, 0.52),
        (0.22, 0.56),
        (0.23, 0.60),
        (0.20, 0.63),
        (0.13, 0.68),
        (0.115, 0.74),
    ]
    stem += [(0.15 + 0.055 * np.sin(a), 0.80 + 0.22 * a / np.pi) for a in np.linspace(0.0, np.pi, 9)] + [
        (0.12, 1.06),
        (0.11, 1.14),
        (0.16, 1.18),
        (0.15, 1.21),
    ]
    bowl = [(0.14, 1.21)] + [(0.14 + 0.62 * np.sin(a), 1.47 - 0.25 * np.cos(a)) for a in np.linspace(0.08, 1.45, 11)]
    bowl += [(0.78, 1.475), (0.80, 1.50), (0.795, 1.52), (0.76, 1.525), (0.73, 1.51)] + [
        (0.73 * np.sin(a), 1.51 - 0.12 * np.cos(a)) for a in np.linspace(1.5, 0.2, 7)
    ]
    top = [
        (0.12, 1.36),
        (0.12, 1.52),
        (0.10, 1.55),
        (0.06, 1.60),
        (0.055, 1.66),
        (0.09, 1.70),
        (0.085, 1.73),
        (0.05, 1.76),
    ]
    top += [(0.075 * np.sin(a) + 0.002, 1.84 - 0.085 * np.cos(a)) for a in np.linspace(0.6, 2.6, 8)] + [
        (0.02, 1.93),
        (0.0, 1.97),
    ]
    flutes = [sphere(0.05, 8, 5).scaled(1.0, 2.2, 0.7).moved(y=1.36, z=0.60).turned("y", 22.5 * i) for i in range(16)]
    stone = join([step, lathe(basin, 56), lathe(stem, 28), lathe(bowl, 48), lathe(top, 24)] + panels + flutes)
    water = join([_water(1.38, 0.50, 24), _water(0.745, 1.475, 10)])
    return {"limestone fountain": stone, "water": water, "water spray": _streams()}


def _streams():
    """Eight thin falls from the upper bowl's lip into the basin."""
    streams = []
    for i in range(8):
        t = np.linspace(0.0, 1.0, 12)
        reach, height = 0.78 + 0.20 * t, 1.50 + 0.05 * t - 1.06 * t**2
        path = np.stack([reach, height, np.zeros(12)], -1) @ rotation("y", 45 * i + 11).T
        streams.append(tube(path, 0.014 - 0.007 * t, 8))
    return join(streams)


def _water(radius, height, rings):
    """A disc of rings whose shading normals carry ripples of two wavelengths, a few degrees steep at most."""
    segments = 56
    r = np.linspace(0.0, radius, rings + 1)
    angle = np.linspace(0.0, 2 * np.pi, segments + 1)
    rr, aa = np.meshgrid(r, angle, indexing="ij")
    x, z = rr * np.cos(aa), -rr * np.sin(aa)
    slope = 0.020 * np.sin(rr * 2 * np.pi / 0.21 + 0.5 * np.sin(3 * aa)) * np.exp(-0.8 * rr) * np.minimum(rr / 0.1, 1.0)
    cross = 0.010 * np.sin(x * 11.0 + 1.7) + 0.010 * np.sin(x * 5.0 + z * 13.0)
    normals = np.stack(
        [-slope * np.cos(aa) - cross, np.ones_like(rr), slope * np.sin(aa) - 0.010 * np.sin(z * 9.0 - x * 4.0)], -1
    )
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    points = np.stack([x, np.full_like(x, height), z], -1)
    return grid(points, np.stack([x, z], -1), normals)


def lantern(rod):
    """Hangs from the origin by a rod of that length: iron cage, six glowing panes (12 triangles, the only ones that
    emit)."""
    glass = lathe([(0.085, -0.38), (0.115, -0.10)], 6)
    corners = glass.positions
    panes = []
    for i in range(6):
        a, b = 2 * i, 2 * i + 2
        panes.append(polygon([corners[a], corners[b], corners[b + 1], corners[a + 1]]))
    bars = [tube([corners[2 * i] * [1.02, 1, 1.02], corners[2 * i + 1] * [1.02, 1, 1.02]], 0.008, 6) for i in range(6)]
    roof = _facets([(0.145, -0.105), (0.145, -0.09), (0.05, 0.0), (0.045, 0.02), (0.0, 0.05)])
    cup = _facets([(0.0, -0.44), (0.02, -0.43), (0.03, -0.41), (0.098, -0.395), (0.098, -0.375), (0.0, -0.375)])
    ring = tube([[0.03 * np.cos(a), 0.075 + 0.03 * np.sin(a), 0] for a in np.linspace(0, 2 * np.pi, 13)], 0.006, 6)
    hook = tube([[0, 0.10, 0], [0, rod, 0]], 0.006, 6)
    rose = lathe([(0.045, rod - 0.03), (0.05, rod - 0.01), (0.05, rod)], 12)
    shapes = [join(panes)] + [join(bars + [roof, cup, ring, hook, rose])]
    return {"lantern glass": shapes[0].moved(y=-rod), "iron": shapes[1].moved(y=-rod)}


def _facets(profile):
    """A six-sided turned shape with flat sides."""
    parts = []
    for i in range(6):
        for (r0, y0), (r1, y1) in zip(profile[:-1], profile[1:]):
            corner = [
                [r * np.cos(a), y, -r * np.sin(a)]
                for r, y, a in (
                    (r0, y0, i * np.pi / 3),
                    (r0, y0, (i + 1) * np.pi / 3),
                    (r1, y1, (i + 1) * np.pi / 3),
                    (r1, y1, i * np.pi / 3),
                )
            ]
            if r0 == 0.0:
                corner = [corner[0], corner[2], corner[3]]
            elif r1 == 0.0:
                corner = corner[:3]
            parts.append(polygon(corner))
    return join(parts)


def water_wheel():
    """An overshot wheel about the origin, axle along X; 16 paddles between two rims on 8 spokes a side."""
    radius, width = 1.15, 0.44
    rim = [(radius - 0.17, -0.025), (radius, -0.025), (radius, 0.025), (radius - 0.17, 0.025), (radius - 0.17, -0.025)]
    rims = [lathe(rim, 48).turned("z", 90).moved(x=s * width / 2) for s in (-1, 1)]
    bands = [
        lathe([(radius, -0.028), (radius + 0.012, -0.028), (radius + 0.012, 0.028), (radius, 0.028)], 48)
        .turned("z", 90)
        .moved(x=s * width / 2)
        for s in (-1, 1)
    ]
    paddles, spokes = [], []
    for i in range(16):
        paddles.append(
            box([width - 0.04, 0.24, 0.022], 0.004).turned("x", 18).moved(y=radius - 0.11).turned("x", 22.5 * i)
        )
    for i in range(8):
        for s in (-1, 1):
            spokes.append(
                box([0.045, radius - 0.22, 0.075], 0.008)
                .moved(y=0.12 + (radius - 0.22) / 2, x=s * width / 2)
                .turned("x", 45 * i)
            )
    hub = [
        lathe([(0.0, -0.07), (0.15, -0.07), (0.17, -0.05), (0.17, 0.05), (0.15, 0.07), (0.0, 0.07)], 20)
        .turned("z", 90)
        .moved(x=s * width / 2)
        for s in (-1, 1)
    ]
    drum = lathe([(radius - 0.18, -width / 2), (radius - 0.18, width / 2)], 48).turned("z", 90)
    axle = lathe([(0.0, -0.62), (0.055, -0.62), (0.055, 0.62), (0.0, 0.62)], 16).turned("z", 90)
    return {"wood": join(rims + paddles + spokes + [drum]), "wood dark": join(hub), "brass": join(bands + [axle])}


def wheel_stand():
    """The stone trough under the wheel with its water, and the timber frames that bear the axle at y = 1.42, x =
    +-0.5."""
    walls = [box([1.30, 0.42, 0.14], 0.02).moved(y=0.21, z=s * 1.38) for s in (-1, 1)] + [
        box([0.14, 0.42, 2.62], 0.02).moved(x=s * 0.58, y=0.21) for s in (-1, 1)
    ]
    water = polygon([[-0.51, 0.31, 1.31], [0.51, 0.31, 1.31], [0.51, 0.31, -1.31], [-0.51, 0.31, -1.31]])
    frames = []
    for x in (-0.46, 0.46):
        for s in (-1, 1):
            foot, head = np.array([x, 0.40, s * 0.62]), np.array([x, 1.36, s * 0.06])
            length = np.linalg.norm(head - foot)
            lean = np.degrees(np.arctan2(s * 0.56, 0.96))
            frames.append(box([0.10, length, 0.12], 0.012).turned("x", -lean).moved(*((foot + head) / 2)))
        frames.append(box([0.12, 0.20, 0.30], 0.015).moved(x=x, y=1.42))
    return {"ashlar": join(walls), "water": water, "wood dark": join(frames)}


def cart_body():
    """A two-wheeled market cart, long side along Z, loaded with oranges and a barrel; its axle is at y = 0.42."""
    floor = box([0.86, 0.04, 1.5], 0.006).moved(y=0.56)
    sides = [box([0.03, 0.11, 1.5], 0.006).moved(x=s * 0.43, y=y) for s in (-1, 1) for y in (0.66, 0.80)]
    ends = [box([0.83, 0.11, 0.03], 0.006).moved(z=s * 0.735, y=y) for s in (-1, 1) for y in (0.66, 0.80)]
    posts = [
        box([0.05, 0.38, 0.05], 0.006).moved(x=s * 0.455, y=0.70, z=z) for s in (-1, 1) for z in (-0.70, 0.0, 0.70)
    ]
    shafts = [box([0.055, 0.055, 2.9], 0.01).moved(x=s * 0.33, y=0.51, z=-0.62) for s in (-1, 1)]
    cross = box([0.66, 0.045, 0.045], 0.01).moved(y=0.52, z=-2.0)
    beam = box([0.98, 0.10, 0.10], 0.01).moved(y=0.44)
    axle = lathe([(0.0, -0.60), (0.025, -0.60), (0.025, 0.60), (0.0, 0.60)], 10).turned("z", 90).moved(y=0.42)
    stave = (
        [(0.0, 0.58), (0.20, 0.58)]
        + [(0.20 + 0.055 * np.sin(a), 0.58 + 0.62 * a / np.pi) for a in np.linspace(0.0, np.pi, 9)]
        + [(0.20, 1.20), (0.18, 1.20), (0.18, 1.17), (0.0, 1.17)]
    )
    hoops = [
        lathe([(r, y), (r + 0.006, y), (r + 0.006, y + 0.035), (r, y + 0.035)], 24)
        for r, y in ((0.206, 0.60), (0.244, 0.74), (0.244, 1.005), (0.206, 1.145))
    ]
    barrel, iron = lathe(stave, 24).moved(z=0.45), join(hoops).moved(z=0.45)
    rng = np.random.default_rng(91)
    ball, oranges = sphere(0.058, 8, 6), []
    for layer, (nx, nz, y) in enumerate(((6, 8, 0.64), (6, 8, 0.73), (5, 7, 0.81), (4, 5, 0.885), (2, 3, 0.95))):
        for i in range(nx):
            for k in range(nz):
                if layer < 2 and 0 < i < nx - 1 and 0 < k < nz - 1:
                    continue  # buried
                jitter = rng.normal(0, 0.006, 3)
                turn = rotation("y", rng.uniform(0, 360)) @ rotation("x", rng.uniform(0, 360))
                oranges.append(
                    ball.transformed(turn).moved(
                        (i - (nx - 1) / 2) * 0.122 + jitter[0],
                        y + jitter[1],
                        -0.27 + (k - (nz - 1) / 2) * 0.112 + jitter[2],
                    )
                )
    return {
        "wood": join([floor] + sides + ends + posts),
        "wood dark": join(shafts + [cross, beam]),
        "wood barrel": barrel,
        "iron": join([iron, axle]),
        "orange": join(oranges),
    }


def cart_wheel():
    """About the origin, axle along X, radius 0.42."""
    felloe = lathe([(0.345, -0.028), (0.40, -0.028), (0.40, 0.028), (0.345, 0.028), (0.345, -0.028)], 32).turned(
        "z", 90
    )
    tyre = lathe([(0.40, -0.032), (0.42, -0.030), (0.42, 0.030), (0.40, 0.032)], 32).turned("z", 90)
    hub = lathe(
        [(0.0, -0.10), (0.045, -0.10), (0.06, -0.06), (0.07, 0.0), (0.06, 0.06), (0.045, 0.10), (0.0, 0.10)], 14
    ).turned("z", 90)
    spokes = [tube([[0, 0.05, 0], [0, 0.36, 0]], [0.022, 0.016], 8).turned("x", 36 * i) for i in range(10)]
    return {"wood": join([felloe, hub] + spokes), "iron": tyre}


def _cards(centres, outward, size, rng, half):
    """Square leaf cards at `centres`, facing roughly outward, all normals bent outward so that a crown shades as one
    mass. `half` picks the spray: 0 green leaves, 1 magenta bracts."""
    parts = []
    for centre, out in zip(centres, outward):
        facing = out + rng.normal(0, 0.55, 3)
        facing /= np.linalg.norm(facing)
        side = np.cross(facing, rng.normal(0, 1, 3))
        side /= np.linalg.norm(side)
        up = np.cross(facing, side)
        s = size * rng.uniform(0.8, 1.25) / 2
        points = [
            centre - side * s - up * s,
            centre + side * s - up * s,
            centre + side * s + up * s,
            centre - side * s + up * s,
        ]
        normal = facing + 0.9 * out
        normal /= np.linalg.norm(normal)
        uvs = [[0.5 * half, 1], [0.5 * half + 0.5, 1], [0.5 * half + 0.5, 0], [0.5 * half, 0]]
        parts.append(Shape(points, np.tile(normal, (4, 1)), uvs, [[0, 1, 2], [0, 2, 3]]))
    return join(parts)


def citrus_tree(seed=101, fruit=18):
    """A clipped citrus in a terracotta pot, 2.3 m high."""
    rng = np.random.default_rng(seed)
    pot = [
        (0.0, 0.0),
        (0.21, 0.0),
        (0.225, 0.02),
        (0.24, 0.10),
        (0.285, 0.34),
        (0.30, 0.42),
        (0.315, 0.43),
        (0.322, 0.45),
        (0.315, 0.47),
        (0.305, 0.48),
    ]
    pot += [
        (0.315, 0.50),
        (0.345, 0.515),
        (0.355, 0.54),
        (0.355, 0.57),
        (0.345, 0.585),
        (0.31, 0.585),
        (0.30, 0.575),
        (0.295, 0.50),
    ]
    trunk = [
        tube(
            [[0, 0.48, 0], [0.015, 0.8, 0.01], [-0.01, 1.15, 0.0], [0.01, 1.5, -0.01]], [0.034, 0.028, 0.024, 0.02], 10
        )
    ]
    for i in range(6):
        a = i * 1.05
        trunk.append(
            tube(
                [
                    [0, 1.25 + 0.03 * i, 0],
                    [0.18 * np.cos(a), 1.45 + 0.03 * i, 0.18 * np.sin(a)],
                    [0.4 * np.cos(a), 1.62 + 0.06 * i, 0.4 * np.sin(a)],
                ],
                [0.017, 0.012, 0.005],
                6,
            )
        )
    out = rng.normal(0, 1, (420, 3))
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    reach = rng.uniform(0.35, 1.0, (420, 1)) ** 0.45
    crown = np.array([0.0, 1.72, 0.0])
    centres = crown + out * reach * [0.56, 0.54, 0.56]
    ball = sphere(0.04, 8, 5)
    fruits = [ball.moved(*(crown + d * [0.57, 0.54, 0.57])) for d in out[:fruit] * [1, 0.9, 1]]
    return {
        "clay pot": lathe(pot, 32),
        "soil": disc(0.298, 20, 0.53),
        "bark": join(trunk),
        "leaves": _cards(centres, out, 0.30, rng, 0),
        "orange": join(fruits),
    }


def bougainvillea():
    """A climber on a corner: stems up a wall in z = 0 from the ground to the terrace's railing, spilling over at 4.6
    m; faces +Z."""
    rng = np.random.default_rng(111)
    stems = []
    for i in range(3):
        t = np.linspace(0, 1, 14)
        x = 0.12 * (i - 1) + 0.18 * np.sin(3 * t + i) + (i - 1) * 0.5 * t**2
        stems.append(tube(np.stack([x, 0.16 + 4.6 * t, 0.05 + 0.04 * np.sin(5 * t)], -1), 0.03 - 0.018 * t, 8))
    count = 700
    t = rng.beta(3.2, 1.3, count)
    spread = 0.12 + 1.25 * t**3
    centres = np.stack(
        [
            rng.normal(0, 1, count) * spread * 0.55,
            0.9 + 4.3 * t - 0.35 * rng.random(count) * t,
            0.10 + 0.30 * rng.random(count) * t,
        ],
        -1,
    )
    out = np.stack([centres[:, 0] * 0.5, 0.35 * np.ones(count), np.ones(count)], -1)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    bloom = rng.random(count) < 0.25 + 0.5 * t
    return {
        "bark": join(stems),
        "leaves": join(
            [_cards(centres[~bloom], out[~bloom], 0.26, rng, 0), _cards(centres[bloom], out[bloom], 0.24, rng, 1)]
        ),
    }


def cypress():
    """8 m high, for the garden outside; its cards are large since nobody comes near."""
    rng = np.random.default_rng(121)
    count = 440
    t = rng.random(count) ** 1.2
    radius = 0.85 * np.sin(np.pi * np.clip(t * 0.92 + 0.10, 0, 1)) ** 0.7 * (1.0 - 0.55 * t)
    angle = rng.uniform(0, 2 * np.pi, count)
    centres = np.stack([radius * np.cos(angle), 0.5 + 7.6 * t, radius * np.sin(angle)], -1)
    out = np.stack([np.cos(angle), 0.5 * np.ones(count), np.sin(angle)], -1)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    return {"bark": tube([[0, 0, 0], [0, 6.5, 0]], [0.16, 0.04], 8), "leaves": _cards(centres, out, 0.85, rng, 0)}


def bench():
    seat = box([1.7, 0.09, 0.46], 0.015).moved(y=0.445)
    legs = [
        join([box([0.16, 0.32, 0.36], 0.012).moved(y=0.24), box([0.22, 0.08, 0.42], 0.012).moved(y=0.04)]).moved(
            x=s * 0.58
        )
        for s in (-1, 1)
    ]
    return {"limestone": join([seat] + legs)}
