"""Answers with networkx. Reads graphs with questions as JSON, writes one answer per graph."""

import json
import sys

import networkx as nx


def built(kind, asked):
    graph = kind()
    graph.add_nodes_from(range(asked["nodes"]))
    for source, target, weight in asked["edges"]:
        graph.add_edge(source, target, weight=weight, cost=1 / weight)
    return graph


def path(graph, source, target):
    """The length and the cost of the best paths, which may be two."""
    try:
        length = nx.shortest_path_length(graph, source, target)
        return {"length": length, "cost": nx.dijkstra_path_length(graph, source, target, weight="cost")}
    except nx.NetworkXNoPath:
        return None


def answer(asked):
    answers = {}
    for name, kind in (("directed", nx.MultiDiGraph), ("undirected", nx.MultiGraph)):
        graph = built(kind, asked)
        distances = nx.single_source_shortest_path_length(graph, asked["start"], cutoff=asked["depth"])
        paths = [path(graph, source, target) for source, target in asked["pairs"]]
        answers[name] = {"distances": sorted(distances.items()), "paths": paths}
    directed = built(nx.MultiDiGraph, asked)
    answers["components"] = sorted(sorted(component) for component in nx.strongly_connected_components(directed))
    answers["costs"] = sorted(nx.single_source_dijkstra_path_length(directed, asked["start"], weight="weight").items())
    return answers


json.dump([answer(asked) for asked in json.load(sys.stdin)], sys.stdout)
