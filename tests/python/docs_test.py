"""The blocks of docs/python.md run, from top to bottom. Those that need a package are left out without it."""

import importlib.util
import os
import re
import tempfile

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/python.md")


def main():
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"^```python( torch| pyg)?\n(.*?)^```", file.read(), re.M | re.S)
    assert len(blocks) >= 5, "the page has lost its blocks"
    names = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, (needs, block) in enumerate(blocks):
            package = {"": "numpy", " torch": "torch", " pyg": "torch_geometric"}[needs]
            if importlib.util.find_spec(package) is None:
                print(f"left out: {package} is not installed")
                continue
            exec(compile(block, f"docs/python.md, block {number + 1}", "exec"), names)
    print(len(blocks), "blocks")


if __name__ == "__main__":
    main()
