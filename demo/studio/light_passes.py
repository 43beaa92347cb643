"""Light passes: one set of renders gives a picture in every colour.

A render is a sum over the ways of light, and a dye scales the ways that touch it. The dark pass has
black dyes, and each other pass has one dye at the mean of its colours. The difference of two passes
is what that dye adds, in linear light, and each colour scales it. Direct light, gloss, and light
that the object throws on the paper come out exact. Light that strikes the dye twice is off by how
far the colour is from the mean: the reason for the mean.
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


def set_quality(size: int, samples: int) -> None:
    """Set the renderer: Cycles on one thread, the same noise each time, denoised."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    scene.render.resolution_x = scene.render.resolution_y = size
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.render.use_persistent_data = True
    scene.render.filter_size = 1.2
    cycles = scene.cycles
    cycles.device, cycles.samples, cycles.seed = "CPU", samples, 7
    cycles.use_adaptive_sampling = cycles.use_light_tree = False
    cycles.use_denoising, cycles.denoiser = True, "OPENIMAGEDENOISE"
    cycles.denoising_input_passes, cycles.denoising_prefilter = "RGB_ALBEDO_NORMAL", "ACCURATE"
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


def mean_dyes(colours: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Return the mean light of each slot's colours, none of it too dark to divide by."""
    slots = zip(*colours, strict=True)
    return [np.maximum(np.mean([linear(each) for each in slot], axis=0), 0.06) for slot in slots]


def render_all(colours: Sequence[Sequence[str]]) -> list[Light]:
    """Render the passes and return the picture's light for each row of dyes."""
    means = mean_dyes(colours)
    used = [set_dye(slot, (0, 0, 0)) for slot in range(len(means))]
    dark = render()
    parts: list[Light | float] = []
    for slot, mean in enumerate(means):
        if used[slot]:
            set_dye(slot, mean)
            parts.append(render() - dark)
            set_dye(slot, (0, 0, 0))
        else:
            parts.append(0.0)
    return [combine(dark, parts, means, row) for row in colours]


def combine(
    dark: Light, parts: Sequence[Light | float], means: Sequence[np.ndarray], colours: Sequence[str]
) -> Light:
    """Return a picture's light in the given dyes."""
    made = dark.copy()
    for part, mean, colour in zip(parts, means, colours, strict=True):
        made += part * (np.array(linear(colour)) / mean).astype(np.float32)
    return np.maximum(made, 0)


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
