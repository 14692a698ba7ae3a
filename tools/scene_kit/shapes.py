"""Triangle shapes as numpy arrays: glTF axes (+Y up), metres, counter-clockwise fronts, UVs in metres.

A Shape has positions, unit normals, UVs (all one row a vertex) and triangles (three indices a row). Functions return
new shapes.
"""
import numpy as np

SMOOTH_ANGLE = np.radians(38.0)  # profile corners sharper than this stay hard edges


class Shape:
    def __init__(self, positions, normals, uvs, triangles):
        self.positions = np.asarray(positions, float).reshape(-1, 3)
        self.normals = np.asarray(normals, float).reshape(-1, 3)
        self.uvs = np.asarray(uvs, float).reshape(-1, 2)
        self.triangles = np.asarray(triangles, int).reshape(-1, 3)

    def moved(self, x=0.0, y=0.0, z=0.0):
        return Shape(self.positions + [x, y, z], self.normals, self.uvs, self.triangles)

    def transformed(self, matrix):
        """`matrix` is 3x3 and acts on column vectors; a mirroring one turns the triangles round."""
        matrix = np.asarray(matrix, float)
        normals = unit(self.normals @ np.linalg.inv(matrix))
        triangles = self.triangles if np.linalg.det(matrix) > 0 else self.triangles[:, ::-1]
        return Shape(self.positions @ matrix.T, normals, self.uvs, triangles)

    def turned(self, axis, degrees):
        return self.transformed(rotation(axis, degrees))

    def scaled(self, x, y, z):
        return self.transformed(np.diag([x, y, z]))

    def with_uvs(self, uvs):
        return Shape(self.positions, self.normals, uvs, self.triangles)


def unit(vectors):
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(length, 1e-12)


def rotation(axis, degrees):
    """Right-handed rotation about the axis 'x', 'y' or 'z'."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def join(shapes):
    shapes = list(shapes)
    starts = np.cumsum([0] + [len(s.positions) for s in shapes])
    return Shape(
        np.concatenate([s.positions for s in shapes]),
        np.concatenate([s.normals for s in shapes]),
        np.concatenate([s.uvs for s in shapes]),
        np.concatenate([s.triangles + start for s, start in zip(shapes, starts)]),
    )


def flat_uvs(positions, normal):
    """Planar UVs in metres along the axis that the normal is nearest to; V grows downwards on walls, as pictures do."""
    positions = np.asarray(positions)
    axis = int(np.argmax(np.abs(normal)))
    if axis == 0:
        return np.stack([positions[..., 2], -positions[..., 1]], -1)
    if axis == 1:
        return np.stack([positions[..., 0], positions[..., 2]], -1)
    return np.stack([positions[..., 0], -positions[..., 1]], -1)


def polygon(points, normals=None):
    """A flat convex polygon, counter-clockwise from outside. Its UVs follow its plane."""
    points = np.asarray(points, float)
    face = np.cross(points[1] - points[0], points[2] - points[0])
    if np.linalg.norm(face) < 1e-12:
        face = np.cross(points[2] - points[0], points[3] - points[0])
    face = unit(face)
    normals = np.tile(face, (len(points), 1)) if normals is None else np.asarray(normals, float)
    fan = [[0, i, i + 1] for i in range(1, len(points) - 1)]
    return Shape(points, normals, flat_uvs(points, face), fan)


def box(size, bevel=0.0):
    """A box about the origin; the bevel's shading runs from face to face, so that edges look rounded."""
    half = np.asarray(size, float) / 2
    inner = half - bevel
    faces = []
    corner = {}
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for sign in (1.0, -1.0):
            ring = []
            for su, sv in [(-1, -1), (1, -1), (1, 1), (-1, 1)]:
                point = np.zeros(3)
                point[axis], point[u], point[v] = sign * half[axis], su * inner[u], sv * inner[v]
                signs = np.zeros(3)
                signs[axis], signs[u], signs[v] = sign, su, sv
                corner[(axis, tuple(signs))] = point
                ring.append(point)
            faces.append(polygon(ring if sign > 0 else ring[::-1]))
    if bevel > 0.0:
        faces += _bevels(corner)
    return join(faces)


def _bevels(corner):
    parts = []
    for axis in range(3):  # the edges along this axis, between the faces of the two others
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for su in (1, -1):
            for sv in (1, -1):
                low, high = np.zeros(3), np.zeros(3)
                low[axis], high[axis] = -1, 1
                for end in (low, high):
                    end[u], end[v] = su, sv
                points = [
                    corner[(u, tuple(low))],
                    corner[(v, tuple(low))],
                    corner[(v, tuple(high))],
                    corner[(u, tuple(high))],
                ]
                nu, nv = np.eye(3)[u] * su, np.eye(3)[v] * sv
                normals = [nu, nv, nv, nu]
                if su * sv < 0:
                    points, normals = points[::-1], normals[::-1]
                parts.append(polygon(points, normals))
    for signs in [(x, y, z) for x in (1.0, -1.0) for y in (1.0, -1.0) for z in (1.0, -1.0)]:
        points = [corner[(axis, signs)] for axis in range(3)]
        normals = [np.eye(3)[axis] * signs[axis] for axis in range(3)]
        if np.prod(signs) < 0:
            points, normals = points[::-1], normals[::-1]
        parts.append(polygon(points, normals))
    return parts


def grid(points, uvs, normals, flip=False):
    """A sheet of quads over points[i, j]; `flip` turns its front round (normals are taken as given)."""
    points = np.asarray(points, float)
    rows, columns = points.shape[:2]
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    b, c, d = a + columns, a + columns + 1, a + 1
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    if flip:
        triangles = triangles[:, ::-1]
    corners = points.reshape(-1, 3)[triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=-1)
    return Shape(points, normals, uvs, triangles[area > 1e-10])


def smooth_runs(profile):
    """Splits a 2D polyline at its hard corners: a list of (points, normals, distance along the line). Normals stand
    on the right of the direction of travel."""
    profile = np.asarray(profile, float)
    profile = profile[np.append(True, np.linalg.norm(np.diff(profile, axis=0), axis=1) > 1e-9)]
    steps = np.diff(profile, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    right = np.stack([steps[:, 1], -steps[:, 0]], -1) / lengths[:, None]
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    bends = np.arccos(np.clip(np.sum(right[1:] * right[:-1], axis=1), -1, 1))
    ends = [0] + [i + 1 for i, bend in enumerate(bends) if bend > SMOOTH_ANGLE] + [len(steps)]
    runs = []
    for first, last in zip(ends[:-1], ends[1:]):
        normals = [right[first]]
        normals += [unit(right[i - 1] + right[i]) for i in range(first + 1, last)]
        normals.append(right[last - 1])
        runs.append((profile[first : last + 1], np.array(normals), along[first : last + 1]))
    return runs


def lathe(profile, segments, start=0.0, end=360.0, around=None):
    """Turns a profile of (radius, height) points, given from bottom to top on the outside, about +Y. `around`: UV
    metres per turn."""
    angles = np.radians(np.linspace(start, end, segments + 1))
    cosine, sine = np.cos(angles), np.sin(angles)
    profile = np.asarray(profile, float)
    scale = around if around else 2 * np.pi * np.max(np.abs(profile[:, 0]))
    parts = []
    for points, normals, along in smooth_runs(profile):
        position = np.stack(
            [np.outer(cosine, points[:, 0]), np.tile(points[:, 1], (segments + 1, 1)), np.outer(-sine, points[:, 0])],
            -1,
        )
        normal = np.stack(
            [
                np.outer(cosine, normals[:, 0]),
                np.tile(normals[:, 1], (segments + 1, 1)),
                np.outer(-sine, normals[:, 0]),
            ],
            -1,
        )
        u, v = np.meshgrid(
            np.radians(np.linspace(start, end, segments + 1)) / (2 * np.pi) * scale, -along, indexing="ij"
        )
        parts.append(grid(position, np.stack([u, v], -1), normal))
    return join(parts)


def arch_moulding(profile, segments):
    """A half ring over the XY plane's upper half: profile of (radius, z) points, from the outer edge over the front to
    the inner edge."""
    # lathe() turns about +Y from +X towards -Z; turning that by +90 degrees about X stands the half ring up, facing +Z.
    return lathe(profile, segments, 0.0, 180.0).turned("x", 90.0)


def extrude(profile, length):
    """A profile of (z, y) points, given from bottom to top on the +Z side, drawn along X, centred. Open ends."""
    parts = []
    for points, normals, along in smooth_runs(profile):
        rows = []
        for x in (-length / 2, length / 2):
            rows.append(np.stack([np.full(len(points), x), points[:, 1], points[:, 0]], -1))
        normal = np.stack([np.zeros(len(points)), normals[:, 1], normals[:, 0]], -1)
        u, v = np.meshgrid([-length / 2, length / 2], -along, indexing="ij")
        parts.append(grid(np.array(rows), np.stack([u, v], -1), np.array([normal, normal])))
    return join(parts)


def tube(path, radii, segments, caps=False):
    """A round tube along a polyline; `radii` is a number or one per point."""
    path = np.asarray(path, float)
    radii = np.broadcast_to(radii, len(path))
    tangents = unit(np.gradient(path, axis=0))
    side = unit(np.cross(tangents[0], [0.0, 1.0, 0.0] if abs(tangents[0, 1]) < 0.9 else [1.0, 0.0, 0.0]))
    angles = np.linspace(0, 2 * np.pi, segments + 1)
    points, normals = [], []
    for point, tangent, radius in zip(path, tangents, radii):
        side = unit(side - tangent * np.dot(side, tangent))
        out = np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(tangent, side))
        points.append(point + radius * out)
        normals.append(out)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    u, v = np.meshgrid(along, angles / (2 * np.pi) * 2 * np.pi * np.max(radii), indexing="ij")
    parts = [grid(np.array(points), np.stack([u, v], -1), np.array(normals), flip=True)]
    if caps:
        parts += [polygon(points[0][:-1][::-1]), polygon(points[-1][:-1])]
    return join(parts)


def sphere(radius, around, rings):
    polar = np.radians(np.linspace(-90.0, 90.0, rings + 1))
    angles = np.linspace(0, 2 * np.pi, around + 1)
    normal = np.stack(
        [
            np.outer(np.cos(angles), np.cos(polar)),
            np.tile(np.sin(polar), (around + 1, 1)),
            np.outer(-np.sin(angles), np.cos(polar)),
        ],
        -1,
    )
    u, v = np.meshgrid(angles * radius, -polar * radius, indexing="ij")
    return grid(normal * radius, np.stack([u, v], -1), normal)


def disc(radius, segments, height=0.0):
    angles = np.linspace(0, 2 * np.pi, segments, endpoint=False)
    return polygon(np.stack([radius * np.cos(angles), np.full(segments, height), -radius * np.sin(angles)], -1))


def arch_panel(width, height, radius, spring, segments):
    """The XY sheet width x height (from y = 0, facing +Z, at z = 0) without a round-headed opening from the ground
    up."""
    half = width / 2
    corner = np.arctan2(height - spring, half)
    angles = np.union1d(np.linspace(0, np.pi, segments + 1), [corner, np.pi - corner])
    inner = np.stack([radius * np.cos(angles), spring + radius * np.sin(angles)], -1)
    outer = []
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        reach = min(half / abs(c) if abs(c) > 1e-9 else np.inf, (height - spring) / s if s > 1e-9 else np.inf)
        outer.append([reach * c, spring + reach * s])
    rows = np.stack([np.array(outer), inner], 0)
    points = np.concatenate([rows, np.zeros(rows.shape[:2] + (1,))], -1)
    normals = np.zeros_like(points)
    normals[..., 2] = 1.0
    parts = [grid(points, flat_uvs(points, [0, 0, 1]), normals, flip=True)]
    if spring > 1e-9:
        for x0, x1 in ((-half, -radius), (radius, half)):
            parts.append(polygon([[x0, 0, 0], [x1, 0, 0], [x1, spring, 0], [x0, spring, 0]]))
    return join(parts)


def facing_errors(shape):
    """How many triangles face away from their own vertex normals: 0 for a sound shape."""
    corners = shape.positions[shape.triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return int(np.sum(np.sum(face * shape.normals[shape.triangles].sum(1), -1) < 0))
