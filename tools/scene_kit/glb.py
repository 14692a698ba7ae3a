"""Collects materials, meshes, nodes and keys, and writes them as one glTF 2.0 binary file."""
import json
import struct

import numpy as np

from . import png

FLOAT, UINT16, UINT32 = 5126, 5123, 5125
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


def plain(values, digits=6):
    return [round(float(v), digits) + 0.0 for v in values]


class Glb:
    """Names are unique per kind and stand for indices: nodes, meshes and materials are asked for by name or by the
    index returned."""

    def __init__(self, generator):
        self.data = bytearray()
        self.json = {
            "asset": {"version": "2.0", "generator": generator},
            "scene": 0,
            "scenes": [{"name": "courtyard", "nodes": []}],
        }
        self.materials = {}
        self.uv_scales = {}
        self.texture_indices = {}

    def _list(self, name):
        return self.json.setdefault(name, [])

    def _add(self, name, item):
        self._list(name).append(item)
        return len(self.json[name]) - 1

    def _view(self, blob, target=None):
        self.data += b"\0" * (-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(blob)}
        if target:
            view["target"] = target
        self.data += blob
        return self._add("bufferViews", view)

    def _accessor(self, array, component, target=None, bounds=False):
        kind = {FLOAT: "<f4", UINT16: "<u2", UINT32: "<u4"}[component]
        array = np.ascontiguousarray(array, kind)
        width = 1 if array.ndim == 1 else array.shape[1]
        item = {
            "bufferView": self._view(array.tobytes(), target),
            "componentType": component,
            "count": len(array),
            "type": KINDS[width],
        }
        if bounds:
            flat = array.reshape(len(array), width)
            item["min"], item["max"] = [float(v) for v in flat.min(0)], [float(v) for v in flat.max(0)]
        return self._add("accessors", item)

    def texture(self, name, pixels, clamp=False):
        if name not in self.texture_indices:
            wrap = 33071 if clamp else 10497
            sampler = {"magFilter": 9729, "minFilter": 9987, "wrapS": wrap, "wrapT": wrap}
            samplers = self._list("samplers")
            if sampler not in samplers:
                samplers.append(sampler)
            image = self._add(
                "images", {"name": name, "mimeType": "image/png", "bufferView": self._view(png.encode(pixels))}
            )
            self.texture_indices[name] = self._add(
                "textures", {"name": name, "sampler": samplers.index(sampler), "source": image}
            )
        return self.texture_indices[name]

    def material(
        self,
        name,
        base=(1, 1, 1),
        rough=1.0,
        metal=0.0,
        maps=None,
        prefix="",
        metres=1.0,
        relief=1.0,
        glow=None,
        cutoff=None,
    ):
        """`maps`: pictures by use ("base", "rough", "normal"), named by `prefix`; one repeat of them spans `metres`.
        `glow`: radiance (RGB)."""
        maps = maps or {}
        pbr = {"baseColorFactor": plain(base) + [1.0], "metallicFactor": metal, "roughnessFactor": rough}
        item = {"name": name, "pbrMetallicRoughness": pbr}
        indices = {
            use: {"index": self.texture(f"{prefix}_{use}", pixels, clamp=cutoff is not None)}
            for use, pixels in maps.items()
        }
        if "base" in indices:
            pbr["baseColorTexture"] = indices["base"]
        if "rough" in indices:
            pbr["metallicRoughnessTexture"] = indices["rough"]
        if "normal" in indices:
            item["normalTexture"] = dict(indices["normal"], scale=relief)
        if glow is not None:
            strength = max(glow)
            item["emissiveFactor"] = plain(np.array(glow) / strength)
            item["extensions"] = {"KHR_materials_emissive_strength": {"emissiveStrength": strength}}
            self._uses("KHR_materials_emissive_strength")
        if cutoff is not None:
            item.update(alphaMode="MASK", alphaCutoff=cutoff, doubleSided=True)
        self.materials[name] = self._add("materials", item)
        self.uv_scales[name] = 1.0 / metres

    def _uses(self, extension):
        used = self._list("extensionsUsed")
        if extension not in used:
            used.append(extension)

    def mesh(self, name, parts):
        """`parts`: shapes by material name; a material without pictures takes no UVs along."""
        primitives = []
        for material, shape in parts.items():
            index = self.materials[material]
            order = shape.triangles.reshape(-1)
            component = UINT16 if len(shape.positions) < 65535 else UINT32
            attributes = {
                "POSITION": self._accessor(np.round(shape.positions, 5), FLOAT, ARRAY_BUFFER, bounds=True),
                "NORMAL": self._accessor(shape.normals, FLOAT, ARRAY_BUFFER),
            }
            if "baseColorTexture" in self.json["materials"][index]["pbrMetallicRoughness"]:
                uvs = np.round(shape.uvs * self.uv_scales[material], 5)
                attributes["TEXCOORD_0"] = self._accessor(uvs, FLOAT, ARRAY_BUFFER)
            primitives.append(
                {
                    "attributes": attributes,
                    "indices": self._accessor(order, component, ELEMENT_ARRAY_BUFFER),
                    "material": index,
                    "mode": 4,
                }
            )
        return self._add("meshes", {"name": name, "primitives": primitives})

    def node(self, name, parent=None, mesh=None, at=(0, 0, 0), turn=None, scale=None, camera=None, light=None):
        """`turn`: (axis letter, degrees) or a quaternion x, y, z, w."""
        item = {"name": name}
        if any(at):
            item["translation"] = plain(at)
        if turn is not None:
            item["rotation"] = plain(quaternion(*turn) if len(turn) == 2 else turn, 7)
        if scale is not None:
            item["scale"] = plain(scale)
        if mesh is not None:
            item["mesh"] = mesh
        if camera is not None:
            item["camera"] = self._add("cameras", dict(camera, name=name))
        if light is not None:
            lights = self.json.setdefault("extensions", {}).setdefault("KHR_lights_punctual", {"lights": []})["lights"]
            lights.append(dict(light, name=name))
            item["extensions"] = {"KHR_lights_punctual": {"light": len(lights) - 1}}
            self._uses("KHR_lights_punctual")
        index = self._add("nodes", item)
        if parent is None:
            self.json["scenes"][0]["nodes"].append(index)
        else:
            self.json["nodes"][parent].setdefault("children", []).append(index)
        return index

    def animate(self, node, path, times, values, interpolation="LINEAR"):
        """All channels make one animation. `values`: a row per key (three per key for CUBICSPLINE)."""
        animations = self._list("animations")
        if not animations:
            animations.append({"name": "day", "samplers": [], "channels": []})
        animation = animations[0]
        keys = self._accessor(np.asarray(times), FLOAT, bounds=True)
        animation["samplers"].append(
            {"input": keys, "output": self._accessor(np.asarray(values), FLOAT), "interpolation": interpolation}
        )
        animation["channels"].append(
            {"sampler": len(animation["samplers"]) - 1, "target": {"node": node, "path": path}}
        )

    def encoded(self):
        self.data += b"\0" * (-len(self.data) % 4)
        self.json["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + len(self.data)
        return (
            struct.pack("<4sII", b"glTF", 2, size)
            + struct.pack("<I4s", len(text), b"JSON")
            + text
            + struct.pack("<I4s", len(self.data), b"BIN\0")
            + bytes(self.data)
        )


def quaternion(axis, degrees):
    half = np.radians(degrees) / 2
    xyz = np.array({"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[axis]) * np.sin(half)
    return [*xyz, np.cos(half)]


def look(eye, target):
    """The rotation (quaternion) that points a camera's or a light's -Z from `eye` at `target`, +Y up."""
    back = np.asarray(eye, float) - target
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    m = np.stack([right, np.cross(back, right), back], 1)
    w = np.sqrt(max(0.0, 1 + m[0, 0] + m[1, 1] + m[2, 2])) / 2
    if w > 1e-4:
        return [(m[2, 1] - m[1, 2]) / (4 * w), (m[0, 2] - m[2, 0]) / (4 * w), (m[1, 0] - m[0, 1]) / (4 * w), w]
    return [0.0, 1.0, 0.0, 0.0]  # straight along +Z
