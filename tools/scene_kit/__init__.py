"""Parts of tools/make_scenes: shapes, textures and a glTF writer, and the courtyard made of them."""
