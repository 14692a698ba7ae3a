"""Procedural textures that repeat without a seam. Colours are linear albedo here and sRGB in the pictures; heights
are in metres.

Every function returns uint8 pictures, height x width x channels. Values are rounded to few steps on purpose: PNG
packs those well.
"""
import numpy as np


def noise(size, seed, falloff=1.0, lowest=1, highest=None):
    """Periodic noise with a 1/f^falloff spectrum between two frequencies (cycles a picture): mean 0, deviation 1."""
    spectrum = np.fft.rfft2(np.random.default_rng(seed).standard_normal((size, size)))
    fy = np.fft.fftfreq(size, 1.0 / size)[:, None]
    fx = np.fft.rfftfreq(size, 1.0 / size)[None, :]
    frequency = np.hypot(fx, fy)
    band = (frequency >= lowest) & (frequency <= (highest or size))
    field = np.fft.irfft2(spectrum * np.where(band, 1.0 / np.maximum(frequency, 1.0) ** falloff, 0.0), s=(size, size))
    return field / field.std()


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def mix(a, b, t):
    t = np.asarray(t)[..., None]
    return np.asarray(a) * (1.0 - t) + np.asarray(b) * t


def rounded(values, step):
    return (np.round(np.clip(values, 0.0, 1.0) * 255.0 / step) * step).clip(0, 255).astype(np.uint8)


def colour(linear, step=3):
    linear = np.clip(linear, 0.0, 1.0)
    return rounded(np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055), step)


def normals(height, metres, step=3):
    """Tangent-space normals (+Y up the picture, as glTF has them) of a height field that spans `metres`."""
    pixel = metres / height.shape[1]
    dx = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) / (2 * pixel)
    dy = (np.roll(height, 1, 0) - np.roll(height, -1, 0)) / (2 * pixel)
    normal = np.stack([-dx, -dy, np.ones_like(dx)], -1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    steps = np.round(normal[..., :2] * 127.0 / step) * step  # 0 stays exactly 0: flat stays flat
    z = np.round(np.sqrt(np.maximum(127.0**2 - (steps**2).sum(-1), 0.0)))
    return (np.concatenate([steps, z[..., None]], -1) + 128.0).clip(0, 255).astype(np.uint8)


def roughness(values, metal=0.0, step=3):
    """glTF's packing: G roughness, B metallic."""
    zero = np.zeros_like(values)
    return rounded(np.stack([zero, values, zero + metal], -1), step)


def pixel_grid(size):
    line = (np.arange(size) + 0.5) / size
    return np.meshgrid(line, line)  # x, y in [0, 1)


def joints(x, y, soft):
    """1 inside unit cells, falling to 0 over `soft` towards their borders; x and y count cells."""
    edge = np.minimum(np.minimum(x % 1.0, 1.0 - x % 1.0), np.minimum(y % 1.0, 1.0 - y % 1.0))
    return smoothstep(0.0, soft, edge)


def per_cell(x, y, columns, rows, seed):
    """A random number in [0, 1) for every cell of a periodic columns x rows grid."""
    table = np.random.default_rng(seed).random((rows, columns))
    return table[np.floor(y).astype(int) % rows, np.floor(x).astype(int) % columns]


def plaster(size=512, metres=2.4):
    broad, fine = noise(size, 11, 1.6, 1, 24), noise(size, 12, 1.0, 12, 128)
    stain = smoothstep(0.6, 2.2, noise(size, 13, 1.3, 2, 40))
    tone = 0.84 + 0.045 * broad + 0.018 * fine
    base = mix(tone[..., None] * [1.0, 0.985, 0.96], tone[..., None] * [0.74, 0.70, 0.63], 0.7 * stain)
    height = 0.0012 * noise(size, 12, 1.4, 5, 110) - 0.0006 * stain
    return {"base": colour(base, 4), "normal": normals(height, metres, 5)}


def limestone(size=512, metres=1.1):
    broad, fine = noise(size, 21, 1.3, 1, 60), noise(size, 22, 0.6, 20, 160)
    pits = smoothstep(1.7, 2.6, noise(size, 23, 0.5, 24, 110))
    tone = 0.70 + 0.045 * broad + 0.018 * fine
    base = tone[..., None] * [1.0, 0.955, 0.87] * (1.0 - 0.45 * pits[..., None])
    height = 0.0006 * noise(size, 22, 1.0, 10, 110) - 0.0016 * pits
    return {"base": colour(base, 4), "normal": normals(height, metres, 6)}


def ashlar(size=512, metres=1.6, columns=2, rows=4):
    x, y = pixel_grid(size)
    v = y * rows
    u = x * columns + 0.5 * (np.floor(v) % 2)
    block = per_cell(u, v, columns, rows, 31)
    edge = joints(u, v, 0.05)
    grain = noise(size, 32, 1.1, 4, 120)
    tone = (0.50 + 0.16 * block + 0.04 * grain)[..., None] * mix(
        [1.0, 0.95, 0.86], [1.0, 0.90, 0.74], per_cell(u, v, columns, rows, 33)
    )
    base = mix([0.30, 0.275, 0.24], tone, smoothstep(0.1, 0.7, edge))
    height = 0.010 * edge + 0.0014 * noise(size, 34, 1.2, 5, 90)
    return {"base": colour(base, 5), "normal": normals(height, metres, 6)}


def marble_floor(size=1024, metres=3.2, tiles=4):
    """A polished checker: pale tiles with grey veins, deep green ones with pale veins, worn a little along the
    joints."""
    x, y = pixel_grid(size)
    u, v = x * tiles, y * tiles
    dark = ((np.floor(u) + np.floor(v)) % 2).astype(bool)
    rng = np.random.default_rng(41)
    warp, cloud = noise(size, 42, 1.9, 1, 60), noise(size, 43, 1.7, 2, 60)
    veins, clouds = np.zeros((size, size)), np.zeros((size, size))
    tile = size // tiles
    for row in range(tiles):  # each tile is cut from another place of the quarry, and turned
        for column in range(tiles):
            shift, turn = rng.integers(0, size, 2), rng.integers(0, 4)
            place = np.s_[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile]
            veins[place] = np.rot90(np.roll(warp, shift, (0, 1))[:tile, :tile], turn)
            clouds[place] = np.rot90(np.roll(cloud, shift, (0, 1))[:tile, :tile], turn)
    thin = np.exp(-np.abs(veins) / 0.035) * smoothstep(-0.8, 1.2, clouds)
    broad = np.exp(-np.abs(veins - 0.55) / 0.22)
    tint = per_cell(u, v, tiles, tiles, 44)[..., None]
    pale = mix(
        np.array([0.74, 0.71, 0.65]) * (0.92 + 0.10 * tint),
        [0.47, 0.46, 0.44],
        np.clip(0.75 * thin + 0.28 * broad + 0.06 * clouds, 0, 1),
    )
    deep = mix(
        np.array([0.190, 0.210, 0.202]) * (0.8 + 0.4 * tint),
        [0.48, 0.50, 0.47],
        np.clip(0.8 * thin + 0.10 * broad + 0.02 * clouds, 0, 1),
    )
    edge = joints(u, v, 0.012)
    base = mix([0.16, 0.14, 0.12], np.where(dark[..., None], deep, pale), edge)
    half = np.s_[::2, ::2]
    worn = smoothstep(0.2, 2.0, noise(size // 2, 45, 1.5, 2, 40))
    rough = np.where(dark[half], 0.085, 0.11) + 0.10 * worn + 0.45 * (1.0 - edge[half])
    height = 0.0012 * joints(u[half], v[half], 0.025)
    return {"base": colour(base, 5), "rough": roughness(rough, 0.0, 4), "normal": normals(height, metres, 4)}


def pavers(size=512, metres=1.2, count=4):
    """Square terracotta pavers for the walks."""
    x, y = pixel_grid(size)
    u, v = x * count, y * count
    edge = joints(u, v, 0.06)
    grain, wear = noise(size, 51, 1.0, 4, 120), noise(size, 52, 1.6, 1, 24)
    tone = (
        mix([0.42, 0.185, 0.10], [0.52, 0.29, 0.17], per_cell(u, v, count, count, 53))
        * (1.0 + 0.10 * grain + 0.07 * wear)[..., None]
    )
    base = mix([0.36, 0.31, 0.25], tone, smoothstep(0.25, 0.75, edge))
    rough = 0.42 + 0.09 * wear + 0.35 * (1.0 - edge)
    height = 0.0045 * edge + 0.0006 * noise(size, 54, 1.3, 4, 80)
    return {"base": colour(base, 5), "rough": roughness(rough[::2, ::2], 0.0, 6), "normal": normals(height, metres, 6)}


def clay(size=256):
    tone = 1.0 + 0.13 * noise(size, 61, 1.1, 2, 90)
    lichen = smoothstep(0.9, 2.2, noise(size, 62, 1.3, 3, 60))
    base = mix(np.array([0.50, 0.215, 0.115]) * tone[..., None], [0.40, 0.36, 0.26], 0.6 * lichen)
    return {"base": colour(base, 5)}


def wood(size=512, metres=0.8, planks=4):
    """Weathered planks that run along V."""
    x, y = pixel_grid(size)
    u = x * planks
    stretched = np.repeat(noise(size, 71, 1.2, 3, 200)[: size // 16], 16, axis=0)
    blur = np.fft.irfft2(np.fft.rfft2(stretched) * np.exp(-((np.fft.fftfreq(size)[:, None] * 40) ** 2)), s=(size, size))
    grain = np.zeros((size, size))
    for plank in range(planks):
        cut = np.s_[:, plank * size // planks : (plank + 1) * size // planks]
        grain[cut] = np.roll(blur, 97 * plank, 0)[cut]
    grain /= grain.std()
    edge = smoothstep(0.0, 0.05, np.minimum(u % 1.0, 1.0 - u % 1.0))
    tone = mix([0.25, 0.14, 0.075], [0.40, 0.25, 0.14], per_cell(u, y, planks, 1, 72)) * (1.0 + 0.20 * grain)[..., None]
    base = mix([0.05, 0.03, 0.02], tone, edge)
    height = 0.004 * edge + 0.0005 * grain
    return {"base": colour(base, 6), "normal": normals(height, metres, 6)}


def leaves(size=512):
    """Two sprays side by side in one picture with alpha: green leaves (U < 0.5) and magenta bracts (U > 0.5)."""
    base = np.zeros((size // 2, size, 3))
    alpha = np.zeros((size // 2, size))
    base[:, : size // 2], base[:, size // 2 :] = [0.09, 0.20, 0.035], [0.55, 0.03, 0.20]
    rng = np.random.default_rng(81)
    x, y = np.meshgrid((np.arange(size) + 0.5) / (size // 2), (np.arange(size // 2) + 0.5) / (size // 2))
    for half, count, long, wide in ((0, 15, 0.30, 0.085), (1, 26, 0.15, 0.085)):
        for number in range(count):
            angle = number * 2.39996 + rng.normal(0, 0.2)
            reach = 0.30 * np.sqrt((number + 0.3) / count)
            cx, cy = half + 0.5 + reach * np.cos(angle), 0.5 + reach * np.sin(angle)
            lean = angle + rng.normal(0, 0.5)
            along = (x - cx) * np.cos(lean) + (y - cy) * np.sin(lean)
            across = -(x - cx) * np.sin(lean) + (y - cy) * np.cos(lean)
            t = along / long + 0.5
            inside = np.clip(
                1.0
                - np.abs(across) / (wide * np.sqrt(np.maximum(np.sin(np.pi * np.clip(t, 0, 1)), 1e-6)) ** 1.3 + 1e-6),
                0,
                1,
            )
            shape = smoothstep(0.0, 0.12, inside) * ((t > 0) & (t < 1)) * ((x // 1).astype(int) == half)
            tint = rng.uniform(0.75, 1.35)
            leaf = np.array([[0.10, 0.21, 0.035], [0.62, 0.035, 0.24]][half]) * tint
            shaded = leaf * (0.8 + 0.35 * (inside > 0.9) + 0.25 * np.clip(across / wide, -1, 1))[..., None]
            base = mix(base, shaded, shape)
            alpha = np.maximum(alpha, shape)
    return {"base": np.concatenate([colour(base, 6), rounded(alpha, 17)[..., None]], -1)}
