"""What the source of `reference` defines, read as text: most of it needs torch to import."""

from __future__ import annotations

import ast
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path


class Sources:
    """Looks names up below the `reference` package, wherever it is installed."""

    def __init__(self) -> None:
        self._modules: dict[Path, dict[str, ast.stmt]] = {}

    @cached_property
    def _folder(self) -> Path | None:
        spec = find_spec("reference")
        locations = list(spec.submodule_search_locations or ()) if spec else []
        return Path(locations[0]) if locations else None

    def _names(self, file: Path) -> dict[str, ast.stmt]:
        """The module's top-level names, imported ones among them."""
        if file not in self._modules:
            names: dict[str, ast.stmt] = {}
            for node in ast.parse(file.read_bytes()).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    names[node.name] = node
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    names.update({a.asname or a.name: node for a in node.names})
                elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    names.update({t.id: node for t in targets if isinstance(t, ast.Name)})
            self._modules[file] = names
        return self._modules[file]

    def _find(self, dotted: str) -> ast.stmt | None:
        if self._folder is None:
            return None
        *modules, name = dotted.split(".")[1:]
        base = self._folder.joinpath(*modules)
        for file in (base.with_suffix(".py") if modules else base, base / "__init__.py"):
            if file.is_file():
                return self._names(file).get(name)
        return None

    def defines(self, dotted: str) -> bool:
        """Whether `reference.module.name` stands at the top level of its module."""
        return self._find(dotted) is not None

    def required(self, dotted: str) -> set[str]:
        """The parameters that a function must be given; none where it is not found."""
        node = self._find(dotted)
        if not isinstance(node, ast.FunctionDef):
            return set()
        spec = node.args
        positional = [*spec.posonlyargs, *spec.args]
        needed = positional[: len(positional) - len(spec.defaults)]
        by_name = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        return {a.arg for a in needed} | {a.arg for a, default in by_name if default is None}

    def models(self) -> dict[str, dict[str, str]]:
        """reference/models.tsv: name -> {column: cell}."""
        if self._folder is None:
            return {}
        lines = (self._folder / "models.tsv").read_text("utf-8").splitlines()
        head, *rows = (line.split("\t") for line in lines)
        return {row[0]: dict(zip(head, row, strict=True)) for row in rows}
