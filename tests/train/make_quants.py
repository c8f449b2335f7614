#!/usr/bin/env python3
"""Write tests/train/reference/quants.gguf: for each tensor type that podium
reads, a tensor x.TYPE of random blocks, and y.TYPE with the same values in F32
as the gguf package (0.17) reads them. Needs gguf and numpy."""
import sys
import numpy as np
from gguf import GGMLQuantizationType as Q, GGUFWriter, GGML_QUANT_SIZES
from gguf.quants import dequantize

rng = np.random.default_rng(7)
w = GGUFWriter(sys.argv[1], "llama")
w.add_string("podium.text", "中文")
w.add_array("podium.words", ["a", "", "three"])
w.add_array("podium.numbers", [-1, 2, 300000])
w.add_int8("podium.small", -5)
w.add_float64("podium.double", 0.1)
w.add_bool("podium.yes", True)


def blocks(kind, n):
    """n random blocks whose scales are finite and of ordinary size."""
    values, size = GGML_QUANT_SIZES[kind]
    raw = rng.integers(0, 256, (n, size), dtype=np.uint8)
    halves = {Q.Q6_K: [208], Q.Q4_0: [0], Q.Q8_0: [0], Q.Q5_0: [0]}.get(kind, [0, 2])
    for at in halves:
        raw[:, at:at + 2] = (rng.standard_normal(n) * 0.05).astype(np.float16).view(np.uint8).reshape(n, 2)
    return raw.reshape(1, -1), values * n


for kind in (Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0, Q.Q4_K, Q.Q5_K, Q.Q6_K):
    raw, n = blocks(kind, 2 if "K" in kind.name else 4)
    w.add_tensor(f"x.{kind.name}", raw, raw_dtype=kind)
    w.add_tensor(f"y.{kind.name}", dequantize(raw, kind).astype(np.float32).reshape(1, n))
x = (rng.standard_normal((2, 16)) * 3).astype(np.float32)
x[0, :4] = [0, -0.0, 6e-8, 65504]
w.add_tensor("x.F16", x.astype(np.float16))
w.add_tensor("y.F16", x.astype(np.float16).astype(np.float32))
high = (x.view(np.uint32) >> 16).astype(np.uint16)
w.add_tensor("x.BF16", high.view(np.uint8), raw_dtype=Q.BF16)
w.add_tensor("y.BF16", (high.astype(np.uint32) << 16).view(np.float32))
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
