"""Asks the server for every golden example through tritonclient, every way it can be asked.

Runs in tritonclient's own environment: `python tritonclient_golden.py URL FOLDER OUT`, with
the folder of the published version. Writes OUT, an .npz of all answers by
`variant/sent/answered/example/output`.
"""

from __future__ import annotations

import json
import struct
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput

DATATYPES = {
    "bool": "BOOL", "uint8": "UINT8", "int32": "INT32", "int64": "INT64", "float32": "FP32",
    "string": "BYTES",
}  # fmt: skip
WAYS = {"json": False, "binary": True}


def main(url: str, folder: Path, out: Path) -> None:
    """Ask, check what the protocol promises, and write the answers down."""
    contract = json.loads((folder / "contract.json").read_text(encoding="utf-8"))
    client = InferenceServerClient(url.removeprefix("http://"), network_timeout=120)
    check_metadata(client, contract)
    answers: dict[str, Any] = {}
    for variant in passing(contract):
        for example, (sent, answered) in product(contract["examples"], product(WAYS, WAYS)):
            given = {t["name"]: (t["dtype"], tensor(folder, t)) for t in example["tensors"]}
            result = ask(client, contract, given, variant, WAYS[sent], WAYS[answered])
            for output in contract["outputs"]:
                key = f"{variant}/{sent}/{answered}/{example['id']}/{output['name']}"
                answers[key] = plain(result.as_numpy(output["name"]))
    client.close()
    np.savez(out, **answers)


def passing(contract: dict[str, Any]) -> list[str]:
    """The variants that the server must offer."""
    offered = contract["variants"]
    return [v["name"] for v in offered if v["backends"].get("cpu", {}).get("status") == "passed"]


def tensor(folder: Path, described: dict[str, Any]) -> Any:
    """One golden tensor, as a batch of one."""
    data = (folder / described["file"]).read_bytes()
    if described["dtype"] != "string":
        return np.frombuffer(data, described["dtype"]).reshape(described["shape"])
    texts = []
    while data:
        (length,) = struct.unpack_from("<I", data)
        texts.append(data[4 : 4 + length])
        data = data[4 + length :]
    return np.array(texts, object).reshape(described["shape"])


def plain(values: Any) -> Any:
    """The values as .npz holds them without pickling: strings, which come as UTF-8, as text."""
    if values.dtype != object:
        return values
    texts = [value.decode("utf-8") for value in values.ravel()]
    return np.array(texts, str).reshape(values.shape)


def ask(
    client: Any, contract: dict[str, Any], given: dict[str, tuple[str, Any]], variant: str,
    binary: bool, wanted: bool,
) -> Any:  # fmt: skip
    """One inference; the answer says that it came from the variant asked for."""
    inputs = []
    for name, (dtype, values) in given.items():
        one = InferInput(name, list(values.shape), DATATYPES[dtype])
        one.set_data_from_numpy(values, binary_data=binary)
        inputs.append(one)
    result = client.infer(
        contract["name"],
        inputs,
        model_version=str(contract["version"]),
        outputs=[InferRequestedOutput(o["name"], binary_data=wanted) for o in contract["outputs"]],
        request_id=f"{variant}-{binary}-{wanted}",
        parameters={"variant": variant},
    )
    said = result.get_response()
    assert said["parameters"]["variant"] == variant, said["parameters"]
    assert said["id"] == f"{variant}-{binary}-{wanted}"
    assert said["model_version"] == str(contract["version"])
    return result


def check_metadata(client: Any, contract: dict[str, Any]) -> None:
    """Liveness, readiness, metadata and repository, as tritonclient reads them."""
    name, version = contract["name"], str(contract["version"])
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready(name)
    assert client.is_model_ready(name, version)
    assert not client.is_model_ready("nobody")
    assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
    told = client.get_model_metadata(name)
    for side in ("inputs", "outputs"):
        expected = [(t["name"], DATATYPES[t["dtype"]], free(t["shape"])) for t in contract[side]]
        assert [(t["name"], t["datatype"], t["shape"]) for t in told[side]] == expected
    assert name in [row["name"] for row in client.get_model_repository_index()]


def free(shape: list[Any] | None) -> list[int]:
    """A contract's shape as the protocol tells it: -1 for what is not fixed."""
    return [-1] if shape is None else [s if isinstance(s, int) else -1 for s in shape]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
