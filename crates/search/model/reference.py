"""Writes what the quantised model is measured against: 500 texts and their vectors by the original weights in f32.

An implementation of its own: numpy for the passes, the `tokenizers` package for the word pieces (made with
numpy 2.4.6 and tokenizers 0.23.3). Run it as

    python reference.py FOLDER

with `model.safetensors` and `tokenizer.json` in the folder; it writes `texts.json` and `texts.i16` beside itself. The vectors are
rows of 384 little-endian 16-bit numbers, 32,767 for 1.
"""

import json
import pathlib
import struct
import sys

import numpy as np
from tokenizers import Tokenizer

from texts import texts

HEADS = 12
PIECES_MAX = 256


def tensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    numbers = data[8 + length:]
    return {name: np.frombuffer(numbers[slice(*about["data_offsets"])], dtype="<f4").reshape(about["shape"])
            for name, about in header.items() if about.get("dtype") == "F32"}


def error_function(x: np.ndarray) -> np.ndarray:
    """Below 3 its Taylor series, which converges well there in f64; above, its continued fraction."""
    x = x.astype(np.float64)
    small = np.clip(np.abs(x), 0, 3)
    term, total = small.copy(), small.copy()
    for n in range(1, 60):
        term = term * -small * small / n
        total += term / (2 * n + 1)
    series = total * 2 / np.sqrt(np.pi)
    large = np.clip(np.abs(x), 3, 20)
    fraction = large.copy()
    for n in range(40, 0, -1):
        fraction = large + (n / 2) / fraction
    beyond = 1 - np.exp(-large * large) / fraction / np.sqrt(np.pi)
    return np.sign(x) * np.where(np.abs(x) < 3, series, beyond)


def gelu(x: np.ndarray) -> np.ndarray:
    return (x * 0.5 * (1 + error_function(x / np.sqrt(2)))).astype(np.float32)


class Model:
    def __init__(self, folder: pathlib.Path):
        self.weights = tensors(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(PIECES_MAX)

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attention(self, name: str, x: np.ndarray) -> np.ndarray:
        heads = [self.linear(f"{name}.self.{part}", x).reshape(len(x), HEADS, -1).swapaxes(0, 1)
                 for part in ("query", "key", "value")]
        scores = heads[0] @ heads[1].swapaxes(1, 2) / np.sqrt(heads[0].shape[-1])
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares = shares / shares.sum(-1, keepdims=True)
        return (shares @ heads[2]).swapaxes(0, 1).reshape(len(x), -1)

    def embed(self, text: str) -> np.ndarray:
        pieces = self.tokenizer.encode(text).ids
        embeddings = "embeddings.{}_embeddings.weight".format
        x = self.weights[embeddings("word")][pieces] + self.weights[embeddings("position")][:len(pieces)]
        x = self.norm("embeddings.LayerNorm", x + self.weights[embeddings("token_type")][0])
        for layer in range(6):
            name = f"encoder.layer.{layer}"
            seen = self.linear(f"{name}.attention.output.dense", self.attention(f"{name}.attention", x))
            x = self.norm(f"{name}.attention.output.LayerNorm", x + seen)
            inner = gelu(self.linear(f"{name}.intermediate.dense", x))
            x = self.norm(f"{name}.output.LayerNorm", x + self.linear(f"{name}.output.dense", inner))
        mean = x.mean(0)
        return mean / np.sqrt((mean * mean).sum())


def main() -> None:
    model = Model(pathlib.Path(sys.argv[1]))
    beside = pathlib.Path(__file__).parent
    made = texts()
    vectors = np.stack([model.embed(text) for text in made])
    (beside / "texts.json").write_text(json.dumps(made, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    (beside / "texts.i16").write_bytes(np.round(vectors * 32_767).astype("<i2").tobytes())


if __name__ == "__main__":
    main()
