"""Light passes: one set of renders gives a picture in every colour.

A render is a sum over the ways of light, and a dye scales the ways that touch it. In the first pass
each dye is at the darkest of its colours, and in one more pass for each dye that one is at its
brightest, channel by channel. The difference of the two is what the dye adds, in linear light. Each
colour lies between, so its picture is a mixture of two that were rendered and denoised. Direct
light, gloss and light that the object throws on the paper come out exact. Light that strikes a dye
twice is exact at both ends, and a little too bright between.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
from PIL import Image

from .materials import linear

Light = np.ndarray


def set_dye(slot: int, light: Sequence[float]) -> bool:
    """Dye all materials that have the slot, and return whether there is one."""
    found = False
    for material in bpy.data.materials:
        if not material.use_nodes:
            continue
        for node in material.node_tree.nodes:
            if node.label == f"dye {slot}":
                node.outputs[0].default_value = (*light, 1)
                material.node_tree.update_tag()
                found = True
    return found


def set_quality(size: int, samples: int, ratio: float = 1.0) -> None:
    """Set the renderer: Cycles on one thread, the same noise each time, denoised.

    `size` is the picture's width, and `ratio` its width by its height.
    """
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    scene.render.resolution_x, scene.render.resolution_y = size, round(size / ratio)
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.render.use_persistent_data = True
    scene.render.filter_size = 1.2
    cycles = scene.cycles
    cycles.device, cycles.samples, cycles.seed = "CPU", samples, 7
    cycles.use_adaptive_sampling = cycles.use_light_tree = False
    cycles.use_denoising, cycles.denoiser = True, "OPENIMAGEDENOISE"
    cycles.denoising_input_passes, cycles.denoising_prefilter = "RGB_ALBEDO_NORMAL", "FAST"
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 10, 3, 4
    cycles.transmission_bounces, cycles.transparent_max_bounces = 10, 10
    cycles.caustics_reflective = cycles.caustics_refractive = False
    cycles.sample_clamp_indirect = 6.0


def render() -> Light:
    """Render the scene and return its light, the top row first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "light.exr"
        bpy.context.scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(str(path))
        flat = np.empty(len(image.pixels), dtype=np.float32)
        image.pixels.foreach_get(flat)
        width, height = image.size
        bpy.data.images.remove(image)
    return flat.reshape(height, width, -1)[::-1, :, :3].copy()


def ends(colours: Sequence[Sequence[str]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the darkest and the brightest light of each dye, channel by channel."""
    found = []
    for slot in zip(*colours, strict=True):
        lights = np.array([linear(each) for each in slot])
        found.append(
            (lights.min(axis=0), np.maximum(lights.max(axis=0), lights.min(axis=0) + 0.02))
        )
    return found


def render_all(colours: Sequence[Sequence[str]]) -> list[Light]:
    """Render the passes and return the picture's light for each row of dyes."""
    dyes = ends(colours)
    used = [set_dye(slot, low) for slot, (low, _) in enumerate(dyes)]
    first = render()
    made = [first.copy() for _ in colours]
    for slot, (low, high) in enumerate(dyes):
        if not used[slot] or len({row[slot] for row in colours}) == 1:
            continue
        set_dye(slot, high)
        added = render() - first
        set_dye(slot, low)
        for light, row in zip(made, colours, strict=True):
            light += added * ((np.array(linear(row[slot])) - low) / (high - low))
    return [np.maximum(light, 0) for light in made]


def develop(light: Light) -> Image.Image:
    """Return light as a picture: true colours, with a soft shoulder for highlights.

    Below the shoulder a colour is as on the swatch. Above it the brightest channel rolls off, and
    the others follow, so that highlights keep their hue and fade to white.
    """
    knee = 0.72
    peak = np.maximum(light.max(axis=2, keepdims=True), 1e-6)
    rolled = np.where(peak > knee, 1 - (1 - knee) * np.exp(-(peak - knee) / (1 - knee)), peak)
    kept = light * (rolled / peak)
    fade = np.clip((peak - 1.0) / 4.0, 0, 1)
    shown = np.clip(kept + (rolled - kept) * fade, 0, 1)
    screen = np.where(shown <= 0.0031308, shown * 12.92, 1.055 * shown ** (1 / 2.4) - 0.055)
    grain = np.random.default_rng(7).normal(0, 0.0035, screen.shape[:2])[..., None]
    return Image.fromarray((np.clip(screen + grain, 0, 1) * 255 + 0.5).astype(np.uint8))
