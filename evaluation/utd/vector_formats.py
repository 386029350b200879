"""Name the number formats of stored text vectors. Loads no library."""

FLOAT32, FLOAT16 = "float32", "float16"
SUFFIXES = {FLOAT32: ".f32", FLOAT16: ".f16"}
