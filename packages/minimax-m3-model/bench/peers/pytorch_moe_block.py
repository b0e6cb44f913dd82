"""What PyTorch's CUDA graphs take for the MoE block that `moe-block.bench.ts` times.

    python3 pytorch_moe_block.py --width 3072 [--hidden 6144 --experts 128 --top-k 4 ...] TOKENS [TOKENS ...]

bf16 weights and activations, plain PyTorch: router in fp32, experts by grouped products over rows sorted by
expert, one shared expert. Each number of tokens is captured with everything on one stream ("serial:TOKENS")
and with the routed experts on a second one ("streams:TOKENS"). As in the bench, replays rotate over SLOTS
inputs and over layers, so that routing differs from replay to replay and no weight comes from the L2.

Prints one line of JSON: {"status": version, GPU and sizes, "us": {key: median microseconds of a replay},
"experts": {tokens: routed experts that a replay touches, mean}}. Results are checked before they are timed.
"""

import argparse
import json
import statistics
import sys

import torch
import torch.nn.functional as F

ALPHA, LIMIT = 1.702, 7.0
FREE_SHARE = 0.6  # of the memory, for weights; the rest is for activations of all graphs
CHECKED = 2  # tokens
MOST_APART = 2e-2  # of the norm: bf16 products and roundings between them

grouped_mm = getattr(F, "grouped_mm", None) or torch._grouped_mm


def swiglu_oai(gate_up):
    gate, up = gate_up.chunk(2, dim=-1)
    gate = gate.clamp(max=LIMIT)
    up = up.clamp(min=-LIMIT, max=LIMIT)
    return gate * torch.sigmoid(gate * ALPHA) * (up + 1)


class Layer:
    """Weights of one block: uniform values of the deviations that the bench's own have."""

    def __init__(self, sizes):
        hidden, width, experts = sizes.hidden, sizes.width, sizes.experts
        self.sizes = sizes
        self.router = uniform((experts, hidden), 2**-5, torch.float32)
        self.gate_up = uniform((experts, 2 * width, hidden), 2**-4)
        self.down = uniform((experts, hidden, width), 2**-5)
        self.shared_gate_up = uniform((2 * width, hidden), 2**-4)
        self.shared_down = uniform((hidden, width), 2**-5)

    def route(self, x):
        """Ids and weights [tokens, top_k]."""
        scores = torch.sigmoid(F.linear(x.float(), self.router))
        weights, ids = torch.topk(scores, self.sizes.top_k, dim=-1, sorted=False)
        return ids, weights / weights.sum(-1, keepdim=True) * self.sizes.scale

    def routed(self, x):
        ids, weights = self.route(x)
        flat = ids.flatten()
        order = torch.argsort(flat)
        expert_ids = torch.arange(self.sizes.experts, device=x.device)
        ends = torch.searchsorted(flat[order], expert_ids, right=True).to(torch.int32)
        rows = x[order // self.sizes.top_k]
        hidden = swiglu_oai(grouped_mm(rows, self.gate_up.transpose(1, 2), offs=ends))
        out = grouped_mm(hidden, self.down.transpose(1, 2), offs=ends)
        out = out * weights.flatten()[order].to(out.dtype).unsqueeze(-1)
        back = torch.empty_like(order)
        back[order] = torch.arange(order.numel(), device=x.device)
        return out[back].view(*ids.shape, -1).sum(1)

    def shared(self, x):
        return F.linear(swiglu_oai(F.linear(x, self.shared_gate_up)), self.shared_down)

    def serial(self, x):
        return self.routed(x) + self.shared(x)

    def streams(self, x, alt):
        current = torch.cuda.current_stream()
        alt.wait_stream(current)
        with torch.cuda.stream(alt):
            routed = self.routed(x)
        shared = self.shared(x)
        current.wait_stream(alt)
        return routed + shared

    def reference(self, x):
        """fp32, expert by expert."""
        ids, weights = self.route(x)
        x = x.float()

        def mlp(row, gate_up, down):
            return F.linear(swiglu_oai(F.linear(row, gate_up.float())), down.float())

        out = mlp(x, self.shared_gate_up, self.shared_down)
        for token, chosen in enumerate(ids.tolist()):
            for slot, expert in enumerate(chosen):
                expert_out = mlp(x[token], self.gate_up[expert], self.down[expert])
                out[token] += weights[token, slot] * expert_out
        return out


def uniform(shape, most, dtype=torch.bfloat16):
    return torch.empty(shape, dtype=dtype, device="cuda").uniform_(-most, most)


def capture(block, pool):
    """The executable graph and its output, which no later capture of the pool overwrites."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            block()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        out = block()
    return graph, out


def check(layer, x, out, what):
    torch.cuda.synchronize()
    expected = layer.reference(x[-CHECKED:])
    apart = ((out[-CHECKED:].float() - expected).norm() / expected.norm()).item()
    if not apart <= MOST_APART:
        raise SystemExit(f"{what}: {apart} apart from fp32, relative to its norm")


def median_us(graphs, rounds):
    """Median of single replays, by events; the first replay of a round hides the launches of the others."""
    times = []
    for _ in range(rounds):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(graphs) + 1)]
        graphs[-1].replay()
        events[0].record()
        for graph, event in zip(graphs, events[1:]):
            graph.replay()
            event.record()
        torch.cuda.synchronize()
        pairs = zip(events, events[1:])
        times += [before.elapsed_time(after) * 1000 for before, after in pairs]
    return statistics.median(times)


def measure(layers, tokens, sizes):
    """us by name, and experts touched."""
    inputs = [uniform((tokens, sizes.hidden), 3**0.5) for _ in range(sizes.slots)]
    slots = [(layers[slot % len(layers)], x) for slot, x in enumerate(inputs)]
    touched = [layer.route(x)[0].unique().numel() for layer, x in slots]
    alt = torch.cuda.Stream()
    ways = {
        "serial": lambda layer, x: layer.serial(x),
        "streams": lambda layer, x: layer.streams(x, alt),
    }
    us = {}
    for name, way in ways.items():
        pool = torch.cuda.graph_pool_handle()
        captured = [capture(lambda: way(layer, x), pool) for layer, x in slots]
        for (layer, x), (graph, out) in zip(slots, captured):
            graph.replay()
            check(layer, x, out, f"{name}, {tokens} tokens")
        graphs = [graph for graph, _ in captured]
        median_us(graphs, 1)
        us[f"{name}:{tokens}"] = median_us(graphs, -(-sizes.replays // sizes.slots))
        del captured, graphs
        torch.cuda.empty_cache()
    return us, statistics.mean(touched)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tokens", nargs="+", type=int)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--hidden", type=int, default=6144)
    parser.add_argument("--experts", type=int, default=128)
    parser.add_argument("--top-k", type=int, default=4)
    parser.add_argument("--scale", type=float, default=2.0)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--replays", type=int, default=80)
    sizes = parser.parse_args()
    if not torch.cuda.is_available():
        print(json.dumps({"status": f"missing: PyTorch {torch.__version__} sees no GPU", "us": {}}))
        return
    torch.manual_seed(0)
    layer_bytes = 2 * 3 * sizes.hidden * sizes.width * (sizes.experts + 1)
    fitting = int(FREE_SHARE * torch.cuda.mem_get_info()[0] / layer_bytes)
    us, experts = {}, {}
    with torch.no_grad():
        layers = [Layer(sizes) for _ in range(max(1, min(sizes.layers, fitting)))]
        for tokens in sizes.tokens:
            times, touched = measure(layers, tokens, sizes)
            us.update(times)
            experts[tokens] = touched
    name = torch.cuda.get_device_name()
    status = f"PyTorch {torch.__version__} on {name}, {len(layers)} layers, {sizes.slots} inputs"
    print(json.dumps({"status": status, "us": us, "experts": experts}))


if __name__ == "__main__":
    sys.exit(main())
