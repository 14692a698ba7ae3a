"""The courtyard: a court of 16.8 x 12 m along X and Z, arcades on four sides, an upper storey on three; the fourth
(+Z) is an open screen through which the low sun draws its arches on the floor."""
import numpy as np

from . import architecture as arch
from . import glb, palette, props
from .architecture import BAY, COLUMN_Z, EAVES, OVERHANG, RADIUS, SETBACK, SLOPE, SPRING, STEP, TERRACE, WALK, WALL
from .shapes import box, join, polygon

HALF_X, HALF_Z = 3.5 * BAY, 2.5 * BAY
SECONDS = 16.0
WHEEL_TURNS_PER_SECOND = 1.5
CART_SPEED = 2.0
CART_TURNS = (2.7, -3.4, 4.6)  # where the cart starts, turns back, and turns again (z)
SUN_TRAVELS = (0.28, -0.52, -0.93)
SUN_LUX = 5.5
MAIN_EYE, MAIN_TARGET, MAIN_YFOV = (-8.2, 1.68, 1.45), (0.0, 2.0, -0.45), 48.0


def build():
    scene = glb.Glb("Tandem tools/make_scenes")
    palette.add_materials(scene)
    _cameras(scene)
    _sun(scene)
    _building(scene)
    _grounds(scene)
    _furniture(scene)
    _fountain_wheel_cart(scene)
    return scene.encoded()


def _cameras(scene):
    def lens(yfov):
        return {
            "type": "perspective",
            "perspective": {"yfov": round(float(np.radians(yfov)), 6), "aspectRatio": round(16 / 9, 6), "znear": 0.05},
        }

    scene.node("Main", at=MAIN_EYE, turn=glb.look(MAIN_EYE, MAIN_TARGET), camera=lens(MAIN_YFOV))
    orbit = scene.node("Orbit", at=_orbit_eye(0.0), turn=_orbit_turn(0.0), camera=lens(52.0))
    keys = np.linspace(0.0, SECONDS, 9)
    step = 1e-3
    rows = [((_orbit_eye(t + step) - _orbit_eye(t - step)) / (2 * step), _orbit_eye(t)) for t in keys]
    scene.animate(
        orbit, "translation", keys, np.concatenate([[slope, value, slope] for slope, value in rows]), "CUBICSPLINE"
    )
    keys = np.linspace(0.0, SECONDS, 65)
    scene.animate(orbit, "rotation", keys, _continuous([_orbit_turn(t) for t in keys]))


def _orbit_eye(seconds):
    angle = np.radians(18.0 + 88.0 * seconds / SECONDS)
    return np.array([6.2 * np.cos(angle), 1.65 + 0.25 * np.sin(2 * angle), 3.6 * np.sin(angle)])


def _orbit_turn(seconds):
    return glb.look(_orbit_eye(seconds), np.array([-0.6, 1.75, -1.2]))


def _continuous(turns):
    """Neighbouring quaternions on one side, so that LINEAR goes the short way."""
    turns = np.array(turns)
    for i in range(1, len(turns)):
        if np.dot(turns[i], turns[i - 1]) < 0:
            turns[i] = -turns[i]
    return turns


def _sun(scene):
    turn = glb.look((0.0, 0.0, 0.0), SUN_TRAVELS)
    scene.node(
        "sun",
        at=(10.0, 18.0, 26.0),
        turn=turn,
        light={"type": "directional", "color": [1.0, 0.80, 0.56], "intensity": SUN_LUX},
    )


def _building(scene):
    mesh = {
        name: scene.mesh(name, getattr(arch, name)())
        for name in (
            "column",
            "arch_bay",
            "roundel",
            "vault_bay",
            "vault_rib",
            "rear_wall_bay",
            "door",
            "dentils",
            "railing_bay",
            "upper_bay",
            "roof_bay",
            "corner_pier",
            "walk_end",
        )
    }
    mesh["roof_end"] = scene.mesh("roof_end", arch.roof_bay(3))
    lantern = scene.mesh("lantern", props.lantern(0.55))
    sides = (
        ("left", 7, (0, 0, -HALF_Z), 0),
        ("far", 5, (HALF_X, 0, 0), -90),
        ("near", 5, (-HALF_X, 0, 0), 90),
        ("screen", 7, (0, 0, HALF_Z), 180),
    )
    for name, bays, at, turn in sides:
        side = scene.node(name, at=at, turn=("y", turn) if turn else None)
        _arcade(scene, side, name, bays, mesh, lantern)
        if name == "screen":
            scene.node("screen top", side, scene.mesh("screen top", _screen_top(bays * BAY)))
        else:
            _wing(scene, side, name, bays, mesh)
    for x in (-1, 1):
        for z in (-1, 1):
            scene.node(f"corner pier {x} {z}", None, mesh["corner_pier"], (x * (HALF_X + 0.13), 0, z * (HALF_Z + 0.13)))


def _arcade(scene, side, name, bays, mesh, lantern):
    for i in range(bays):
        x = (i - (bays - 1) / 2) * BAY
        scene.node(f"{name} arch {i}", side, mesh["arch_bay"], (x, 0, 0))
        scene.node(f"{name} dentils {i}", side, mesh["dentils"], (x, 0, 0))
        if name != "near" or i % 2:
            scene.node(
                f"{name} lantern {i}",
                side,
                lantern,
                (x, SPRING + RADIUS, COLUMN_Z),
                turn=("y", 37 * i % 60) if i else None,
            )
        scene.node(
            f"{name} railing {i}", side, mesh["railing_bay"], (x, TERRACE, COLUMN_Z if name == "screen" else 0.06)
        )
    for i in range(1, bays):
        x = (i - bays / 2) * BAY
        scene.node(
            f"{name} column {i}", side, mesh["column"], (x, 0, COLUMN_Z), turn=("y", 90 * (i % 4)) if i % 4 else None
        )
        scene.node(f"{name} roundel {i}", side, mesh["roundel"], (x, SPRING + 0.93, 0.0))
    scene.node(
        f"{name} string course",
        side,
        scene.mesh(f"{name} string course", {"limestone grey": arch.string_course(bays * BAY + 0.4)}),
    )
    inset = 0.0 if name in ("left", "screen") else 0.32
    nosing = box([bays * BAY - 2 * inset, STEP, 0.90], 0.012).moved(y=STEP / 2, z=-0.13)
    scene.node(f"{name} step", side, scene.mesh(f"{name} step", {"limestone": nosing}))


def _screen_top(length):
    outside = arch.string_course(length + 0.4).turned("y", 180).moved(z=-WALL)
    top = polygon(
        [
            [-length / 2, TERRACE, -0.04],
            [length / 2, TERRACE, -0.04],
            [length / 2, TERRACE, -WALL + 0.04],
            [-length / 2, TERRACE, -WALL + 0.04],
        ]
    )
    return {"limestone grey": join([outside, top])}


def _wing(scene, side, name, bays, mesh):
    """Walk, terrace, upper storey and roof of one covered side. Only the left wing reaches round the corners."""
    long, depth = name == "left", WALL + WALK
    for i in range(bays):
        x = (i - (bays - 1) / 2) * BAY
        scene.node(f"{name} vault {i}", side, mesh["vault_bay"], (x, 0, 0))
        scene.node(f"{name} upper {i}", side, mesh["upper_bay"], (x, 0, 0))
        scene.node(f"{name} rear wall {i}", side, mesh["rear_wall_bay"], (x, 0, 0))
        if i % 2 == (bays // 2) % 2:
            scene.node(f"{name} door {i}", side, mesh["door"], (x, 0, -depth + 0.02))
    for i in range(bays + 1):
        end = i in (0, bays)
        x = (i - bays / 2) * BAY + (0.23 * (1 if i else -1) if end else 0.0)
        scene.node(f"{name} rib {i}", side, mesh["vault_rib"], (x, 0, 0), scale=(1.9, 1, 1) if end else None)
    half = bays * BAY / 2
    for s in (-1, 1):
        outer_end = not long and s == (1 if name == "far" else -1)  # where the wing meets the screen
        if outer_end:
            scene.node(f"{name} roof end", side, mesh["roof_end"], (s * (half + 0.36), 0, 0))
            scene.node(
                f"{name} walk end",
                side,
                mesh["walk_end"],
                (s * (half + 0.06), 0, -(WALL + WALK) / 2),
                turn=("y", -90 * s),
            )
            continue
        scene.node(f"{name} roof corner {s}", side, mesh["roof_bay"], (s * (half + BAY / 2), 0, 0))
        if long:
            scene.node(
                f"{name} corner vault {s}",
                side,
                mesh["vault_bay"],
                (s * (half + WALL + WALK / 2), 0, 0),
                scale=(WALK / BAY, 1, 1),
            )
        for k in range(2):
            x = s * (half + depth * (0.25 + 0.5 * k))
            scene.node(
                f"{name} rear wall {s} {k}", side, mesh["rear_wall_bay"], (x, 0, 0), scale=(depth / 2 / BAY, 1, 1)
            )
    for i in range(bays):
        scene.node(f"{name} roof {i}", side, mesh["roof_bay"], ((i - (bays - 1) / 2) * BAY, 0, 0))
    scene.node(f"{name} shell", side, scene.mesh(f"{name} shell", _shell(half, name)))


def _shell(half, name):
    """What closes a wing: floors, the upper wall's ends, cornice, the roof beyond the tiles that one sees, the outer
    wall."""
    depth = WALL + WALK
    corner, open_end = half + SETBACK, half + WALL
    low, high = {"left": (-corner, corner), "far": (-corner, open_end), "near": (-open_end, corner)}[
        name
    ]  # the upper wall's ends
    first, last = [
        np.sign(x) * (half + depth + 0.6) if abs(x) == corner else x for x in (low, high)
    ]  # the roof's and the outer wall's
    walk = half + depth if name == "left" else half + WALL
    floor = _level(-walk, walk, STEP, -0.57, -depth)
    edge = corner if name == "left" else half
    terrace = _level(-edge, edge, TERRACE, 0.0, -SETBACK)
    ends = [
        polygon([[x0, TERRACE, -SETBACK], [x1, TERRACE, -SETBACK], [x1, EAVES, -SETBACK], [x0, EAVES, -SETBACK]])
        for x0, x1 in ((low, -half), (half, high))
    ]
    run, rise = np.cos(np.radians(SLOPE)), np.sin(np.radians(SLOPE))
    z0, y0 = -SETBACK + OVERHANG - 1.5 * run, EAVES + 1.5 * rise - 0.05
    z1 = -depth - 0.6
    y1 = y0 + (z0 - z1) * rise / run
    roof = polygon([[first, y0, z0], [last, y0, z0], [last, y1, z1], [first, y1, z1]])
    outer = polygon(
        [[last, 0, -depth - 0.4], [first, 0, -depth - 0.4], [first, y1, -depth - 0.4], [last, y1, -depth - 0.4]]
    )
    walls = ends + [outer]
    if name != "left":
        s = 1 if name == "far" else -1
        gable = [
            [s * open_end, 0, -depth - 0.4],
            [s * open_end, 0, -depth],
            [s * open_end, TERRACE, -depth],
            [s * open_end, TERRACE, -SETBACK],
            [s * open_end, EAVES, -SETBACK],
            [s * open_end, y1, -depth - 0.4],
        ]
        pieces = [[0, 1, 2, 2], [0, 2, 5, 5], [2, 3, 4, 5]]
        walls += [polygon([gable[i] for i in dict.fromkeys(piece)][::s]) for piece in pieces]
    cornice = arch.main_cornice(high - low).moved(x=(high + low) / 2)
    return {
        "pavers": floor,
        "limestone floor": terrace,
        "plaster sienna": join(walls),
        "clay": roof,
        "limestone grey": cornice,
    }


def _level(x0, x1, y, z0, z1):
    """A floor from z0 back to z1 < z0, facing up."""
    return polygon([[x0, y, z0], [x1, y, z0], [x1, y, z1], [x0, y, z1]])


def _grounds(scene):
    x0, z0 = 7.6, 5.2  # 19 x 13 tiles of 0.8 m
    marble = polygon([[-x0, 0, z0], [x0, 0, z0], [x0, 0, -z0], [-x0, 0, -z0]])
    marble = marble.with_uvs(marble.uvs + [x0, z0])
    border = [
        polygon(
            [
                [-HALF_X, 0, s * z0 + w],
                [HALF_X, 0, s * z0 + w],
                [HALF_X, 0, s * z0 + w - 0.8],
                [-HALF_X, 0, s * z0 + w - 0.8],
            ]
        )
        for s, w in ((1, 0.8), (-1, 0.0))
    ]
    border += [polygon([[a, 0, z0], [b, 0, z0], [b, 0, -z0], [a, 0, -z0]]) for a, b in ((-HALF_X, -x0), (x0, HALF_X))]
    scene.node(
        "court floor", None, scene.mesh("court floor", {"marble floor": marble, "limestone floor": join(border)})
    )
    size = 90.0
    holes = [
        ((-size, size), (HALF_Z, size)),
        ((-size, size), (-size, -HALF_Z)),
        ((-size, -HALF_X), (-HALF_Z, HALF_Z)),
        ((HALF_X, size), (-HALF_Z, HALF_Z)),
    ]
    earth = [
        polygon([[xs[0], -0.01, zs[1]], [xs[1], -0.01, zs[1]], [xs[1], -0.01, zs[0]], [xs[0], -0.01, zs[0]]])
        for xs, zs in holes
    ]
    scene.node("garden", None, scene.mesh("garden", {"earth": join(earth), "hills": _hills()}))
    tree = scene.mesh("cypress", props.cypress())
    for i, (x, z, s) in enumerate(
        (
            (-9, 24, 1.1),
            (-4.5, 26, 1.0),
            (0.5, 23.5, 1.15),
            (5, 27, 1.05),
            (9.5, 24.5, 1.2),
            (15, 25, 1.1),
            (20, 22, 1.25),
            (27, 20, 1.1),
        )
    ):
        scene.node(f"cypress {i}", None, tree, (x, 0, z), turn=("y", 70 * i), scale=(s, s, s))


def _hills():
    angles = np.linspace(0.0, 2 * np.pi, 49)
    heights = 6.0 + 2.5 * np.sin(3 * angles + 1.0) + 1.5 * np.sin(7 * angles) + 1.0 * np.cos(11 * angles)
    heights[-1] = heights[0]
    inside = np.stack([85 * np.cos(angles), np.full(49, -0.2), 85 * np.sin(angles)], -1)
    ridge = np.stack([130 * np.cos(angles), heights, 130 * np.sin(angles)], -1)
    return join(
        [
            polygon([inside[i], ridge[i], ridge[i + 1], inside[i + 1]])
            if _up(inside[i], ridge[i], ridge[i + 1])
            else polygon([inside[i], inside[i + 1], ridge[i + 1], ridge[i]])
            for i in range(48)
        ]
    )


def _up(a, b, c):
    return np.cross(b - a, c - a)[1] > 0


def _furniture(scene):
    tree = scene.mesh("citrus", props.citrus_tree())
    places = (
        (-6.9, -4.55),
        (-2.4, -4.75),
        (2.4, -4.75),
        (6.9, -4.55),
        (-6.9, 4.55),
        (-0.4, 4.8),
        (4.8, 4.8),
        (7.3, 2.4),
        (7.3, -2.4),
    )
    for i, (x, z) in enumerate(places):
        s = 1.0 - 0.03 * (i % 3)
        scene.node(f"citrus {i}", None, tree, (x, 0, z), turn=("y", 67 * i), scale=(s, s, s))
    vine = scene.mesh("bougainvillea", props.bougainvillea())
    scene.node("bougainvillea", None, vine, (-3.6, 0, -HALF_Z + 0.10))
    scene.node("bougainvillea far", None, vine, (HALF_X - 0.25, 0, -HALF_Z + 0.35), turn=("y", -45))
    bench = scene.mesh("bench", props.bench())
    for i, (x, z, turn) in enumerate(
        ((0.0, -HALF_Z - 3.2, 0), (-4.8, -HALF_Z - 3.2, 0), (HALF_X + 3.2, -2.4, 90), (HALF_X + 3.2, 2.4, 90))
    ):
        scene.node(f"bench {i}", None, bench, (x, STEP, z), turn=("y", turn))


def _fountain_wheel_cart(scene):
    scene.node("fountain", None, scene.mesh("fountain", props.fountain()))
    stand = scene.node(
        "wheel stand", None, scene.mesh("wheel stand", props.wheel_stand()), (3.3, 0, -3.25), turn=("y", 53)
    )
    wheel = scene.node("wheel", stand, scene.mesh("wheel", props.water_wheel()), (0, 1.42, 0))
    quarter = 0.25 / WHEEL_TURNS_PER_SECOND
    keys = np.arange(int(round(SECONDS / quarter)) + 1) * quarter
    scene.animate(wheel, "rotation", keys, _continuous([glb.quaternion("x", 90.0 * i) for i in range(len(keys))]))
    _cart(scene)


def _cart(scene):
    start, low, high = CART_TURNS
    legs = np.array([start, low, high, start])
    times = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(legs))) / CART_SPEED])
    period = times[-1]
    rounds = int(round(SECONDS / period))
    times = np.concatenate([times[:-1] + period * i for i in range(rounds)] + [[period * rounds]])
    z = np.concatenate([legs[:-1]] * rounds + [[start]])
    x = -3.0
    cart = scene.node("cart", None, scene.mesh("cart", props.cart_body()), (x, 0, start))
    scene.animate(cart, "translation", times, np.stack([np.full(len(z), x), np.zeros(len(z)), z], -1))
    wheel = scene.mesh("cart wheel", props.cart_wheel())
    keys = np.unique(np.round(np.concatenate([times, np.arange(0.0, SECONDS, 0.25)]), 6))
    turns = _continuous([glb.quaternion("x", np.degrees((np.interp(t, times, z) - start) / 0.42)) for t in keys])
    for s in (-1, 1):
        node = scene.node(f"cart wheel {s}", cart, wheel, (s * 0.54, 0.42, 0))
        scene.animate(node, "rotation", keys, turns)
