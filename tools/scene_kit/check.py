"""Reads a finished .glb back and says what is wrong with it: glTF 2.0's rules for what we use, and the promises of
courtyard.glb."""
import json
import struct
import zlib

import numpy as np

MAX_BYTES = 5 * 1000 * 1000
TRIANGLES = (60_000, 250_000)  # drawn, instances counted
MAX_EMISSIVE_TRIANGLES = 400  # each is a light
ALLOWED_EXTENSIONS = {"KHR_lights_punctual", "KHR_materials_emissive_strength", "KHR_texture_transform"}
COMPONENTS = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class Broken(Exception):
    """The file cannot be read further."""


def examine(data):
    """Returns (list of faults, one line that sums the file up)."""
    try:
        document, binary = _split(data)
        file = _File(document, binary)
        faults = list(_checks(file, len(data)))
    except (Broken, KeyError, IndexError, TypeError, ValueError) as error:
        return [f"unreadable: {type(error).__name__}: {error}"], f"{len(data)} bytes"
    unique, drawn, emissive = file.triangle_counts()
    return faults, (
        f"{len(data) / 1e6:.2f} MB, {unique} triangles stored, {drawn} drawn, {emissive} of them emit, "
        f"{len(document['nodes'])} nodes, {len(document['materials'])} materials, {len(document['images'])} images"
    )


def _split(data):
    if len(data) < 20 or data[:4] != b"glTF":
        raise Broken("no glTF binary header")
    version, size = struct.unpack_from("<II", data, 4)
    if version != 2 or size != len(data):
        raise Broken(f"header says version {version}, {size} bytes; the file has {len(data)}")
    chunks, at = [], 12
    while at + 8 <= len(data):
        length, kind = struct.unpack_from("<I4s", data, at)
        if length % 4 or at + 8 + length > len(data):
            raise Broken(f"chunk at byte {at} is not 4-byte aligned or passes the end")
        chunks.append((kind, data[at + 8 : at + 8 + length]))
        at += 8 + length
    if [kind for kind, _ in chunks] != [b"JSON", b"BIN\0"]:
        raise Broken("wants exactly a JSON and a BIN chunk")
    return json.loads(chunks[0][1]), chunks[1][1]


class _File:
    def __init__(self, document, binary):
        self.json, self.binary = document, binary

    def array(self, index):
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        kind, width = np.dtype(COMPONENTS[accessor["componentType"]]), WIDTHS[accessor["type"]]
        start, need = accessor.get("byteOffset", 0), accessor["count"] * width * kind.itemsize
        if (view.get("byteOffset", 0) + start) % kind.itemsize or "byteStride" in view:
            raise Broken(f"accessor {index} is misaligned or strided")
        if start + need > view["byteLength"] or view.get("byteOffset", 0) + view["byteLength"] > len(self.binary):
            raise Broken(f"accessor {index} passes its buffer view or the buffer")
        return np.frombuffer(self.binary, kind, accessor["count"] * width, view.get("byteOffset", 0) + start).reshape(
            accessor["count"], width
        )

    def instances(self):
        """Nodes that the scene reaches, each once; a node reached twice is a fault of the tree."""
        waiting, seen = list(self.json["scenes"][self.json["scene"]]["nodes"]), []
        while waiting:
            node = waiting.pop()
            if node in seen:
                raise Broken(f"node {node} is reached twice")
            seen.append(node)
            waiting += self.json["nodes"][node].get("children", [])
        return [self.json["nodes"][node] for node in seen]

    def triangle_counts(self):
        def count(primitive):
            return self.json["accessors"][primitive["indices"]]["count"] // 3

        def glows(primitive):
            return any(self.json["materials"][primitive["material"]].get("emissiveFactor", [0]))

        meshes = self.json["meshes"]
        unique = sum(count(p) for mesh in meshes for p in mesh["primitives"])
        placed = [p for node in self.instances() if "mesh" in node for p in meshes[node["mesh"]]["primitives"]]
        return unique, sum(map(count, placed)), sum(count(p) for p in placed if glows(p))


def _checks(file, size):
    yield from _promises(file, size)
    for mesh in file.json["meshes"]:
        for primitive in mesh["primitives"]:
            for fault in _primitive(file, primitive):
                yield f"mesh '{mesh['name']}': {fault}"
    yield from _pictures(file)
    yield from _animation(file)


def _promises(file, size):
    document = file.json
    if size > MAX_BYTES:
        yield f"{size} bytes: at most {MAX_BYTES} are allowed"
    for name in set(document.get("extensionsUsed", [])) | set(document.get("extensionsRequired", [])):
        if name not in ALLOWED_EXTENSIONS:
            yield f"uses the extension {name}"
    _, drawn, emissive = file.triangle_counts()
    if not TRIANGLES[0] <= drawn <= TRIANGLES[1]:
        yield f"{drawn} triangles drawn: wants {TRIANGLES[0]} to {TRIANGLES[1]}"
    if not 0 < emissive < MAX_EMISSIVE_TRIANGLES:
        yield f"{emissive} emissive triangles: wants 1 to {MAX_EMISSIVE_TRIANGLES - 1}"
    cameras = [camera["name"] for camera in document["cameras"]]
    if cameras != ["Main", "Orbit"]:
        yield f"cameras are {cameras}: wants Main, Orbit"
    lights = document["extensions"]["KHR_lights_punctual"]["lights"]
    if [light["type"] for light in lights] != ["directional"]:
        yield "wants one directional light, the sun"
    for name in ("wheel", "cart", "fountain"):
        if sum(node["name"] == name for node in document["nodes"]) != 1:
            yield f"wants one node named '{name}'"


def _primitive(file, primitive):
    attributes = {name: file.array(index) for name, index in primitive["attributes"].items()}
    positions, normals = attributes["POSITION"], attributes["NORMAL"]
    accessor = file.json["accessors"][primitive["attributes"]["POSITION"]]
    if not all(np.isfinite(array).all() for array in attributes.values()):
        yield "an attribute is not finite"
    if len({len(array) for array in attributes.values()}) != 1:
        yield "attributes differ in count"
    if not (
        np.array_equal(np.float32(accessor["min"]), positions.min(0))
        and np.array_equal(np.float32(accessor["max"]), positions.max(0))
    ):
        yield "POSITION min or max is not that of the data"
    if np.abs(np.linalg.norm(normals, axis=1) - 1).max() > 1e-4:
        yield "a normal is not of unit length"
    indices = file.array(primitive["indices"]).reshape(-1)
    if len(indices) % 3 or indices.max() >= len(positions):
        yield "indices are no triangle list or out of range"
        return
    corners = positions[indices].reshape(-1, 3, 3).astype(float)
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    material = file.json["materials"][primitive["material"]]
    if not material.get("doubleSided") and (np.sum(face * normals[indices].reshape(-1, 3, 3).sum(1), -1) < 0).any():
        yield f"a triangle of '{material['name']}' faces away from its normals"
    textured = any(
        name in material or name in material["pbrMetallicRoughness"] for name in ("normalTexture", "baseColorTexture")
    )
    if textured and "TEXCOORD_0" not in attributes:
        yield f"'{material['name']}' has pictures, but there are no UVs"


def _pictures(file):
    for image in file.json["images"]:
        view = file.json["bufferViews"][image["bufferView"]]
        data = file.binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        at, packed = 8, b""
        if data[:8] != b"\x89PNG\r\n\x1a\n":
            yield f"image '{image['name']}' is no PNG"
            continue
        while at < len(data):
            length, kind = struct.unpack_from(">I4s", data, at)
            body = data[at + 8 : at + 8 + length]
            if struct.unpack_from(">I", data, at + 8 + length)[0] != zlib.crc32(kind + body):
                yield f"image '{image['name']}': bad checksum of {kind.decode()}"
            packed += body if kind == b"IDAT" else b""
            at += 12 + length
        width, height, _, colours = struct.unpack_from(">IIBB", data, 16)
        if len(zlib.decompress(packed)) != height * (1 + width * {0: 1, 2: 3, 6: 4}[colours]):
            yield f"image '{image['name']}' does not unpack to its size"


def _animation(file):
    moved = {}
    for animation in file.json["animations"]:
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times, values = file.array(sampler["input"]).reshape(-1), file.array(sampler["output"])
            node, path = file.json["nodes"][channel["target"]["node"]], channel["target"]["path"]
            moved[(node["name"], path)] = (times, values)
            if times[0] != 0 or (np.diff(times) <= 0).any():
                yield f"keys of '{node['name']}' {path} do not rise from 0"
            if len(values) != len(times) * (3 if sampler["interpolation"] == "CUBICSPLINE" else 1):
                yield f"'{node['name']}' {path} has {len(values)} values for {len(times)} keys"
            if path == "rotation" and np.abs(np.linalg.norm(values, axis=1) - 1).max() > 1e-4:
                yield f"a quaternion of '{node['name']}' is not of unit length"
    wanted = {("wheel", "rotation"), ("cart", "translation"), ("Orbit", "translation"), ("Orbit", "rotation")}
    for name, path in sorted(wanted - set(moved)):
        yield f"'{name}' has no animated {path}"
    if any(name == "Main" for name, _ in moved):
        yield "the camera Main moves"
    if ("cart", "translation") in moved:
        times, places = moved[("cart", "translation")]
        speed = np.linalg.norm(np.diff(places, axis=0), axis=1) / np.diff(times)
        if np.abs(speed - 2.0).max() > 0.1:
            yield f"the cart moves at {speed.min():.2f} to {speed.max():.2f} m/s: wants 2"
    if ("wheel", "rotation") in moved:
        times, turns = moved[("wheel", "rotation")]
        angle = 2 * np.arccos(np.clip(np.abs(np.sum(turns[1:] * turns[:-1], axis=1)), 0, 1))
        rate = angle / np.diff(times) / (2 * np.pi)
        if rate.min() < 1.0 or rate.max() > 2.5:
            yield f"the wheel turns {rate.min():.2f} to {rate.max():.2f} times a second: wants 1 to 2.5"
