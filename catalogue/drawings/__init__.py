"""How the shop's goods look: one small function a shape, drawn on a Sheet in the variant's own colours."""
