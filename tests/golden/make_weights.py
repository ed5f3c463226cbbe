#!/usr/bin/env python3
"""Weights as the safetensors package writes them: pip install safetensors numpy ml_dtypes; tests/golden/make_weights.py, in this folder."""

import ml_dtypes
import numpy
from safetensors.numpy import save_file

# 65504 is the largest of F16 and 2^-24 its smallest; BF16 rounds both.
VALUES = [1, -2, 0.1, 65504, 2.0**-24, -0.333]

for name, kind in (("f64", numpy.float64), ("f32", numpy.float32), ("f16", numpy.float16), ("bf16", ml_dtypes.bfloat16)):
    weight = numpy.array(VALUES).astype(kind).reshape(2, 3)
    save_file({"layers.1.weight": weight, "layers.1.bias": weight[1].copy()}, f"weights_{name}.safetensors")
    print(name, ", ".join(float(value).hex() for value in weight.astype(numpy.float32).flatten()))
