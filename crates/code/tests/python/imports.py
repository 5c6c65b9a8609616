"""Prints the import graph of the package `django` in the working directory as grimp sees it: {module: [modules]}."""

import json
import sys

import grimp

sys.path.insert(0, ".")
graph = grimp.build_graph("django", include_external_packages=False, cache_dir=None)
print(json.dumps({module: sorted(graph.find_modules_directly_imported_by(module)) for module in graph.modules}))
