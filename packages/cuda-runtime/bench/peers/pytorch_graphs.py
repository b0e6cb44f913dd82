"""What PyTorch's streams, graphs and allocator take for the work that the benches beside it time.

    python3 pytorch_graphs.py SECTION [SIZE ...]

Prints one line of JSON: {"status": version and GPU, "us": {key: median microseconds}}. Each section
checks its results before it times. The tiny kernel is `x.add_(1)` on 16 int32, as in the benches.
"""

import argparse
import json
import statistics
import sys
import time

import torch

TINY = 16
RUNS = 40


def median_us(runs, items, run):
    """Median of `runs` runs, µs an item. `run` returns seconds, or None to be timed whole."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        seconds = run()
        times.append(time.perf_counter() - begin if seconds is None else seconds)
    return statistics.median(times) * 1e6 / items


def counters():
    return torch.zeros(TINY, dtype=torch.int32, device="cuda")


def expect(x, count, what):
    torch.cuda.synchronize()
    if not bool((x == count).all()):
        raise SystemExit(f"{what}: counted {x.tolist()}, expected {count}")


def warm_up(stream=None):
    """Loads the kernel before a capture."""
    with torch.cuda.stream(stream or torch.cuda.Stream()):
        counters().add_(1)
    torch.cuda.synchronize()


def capture(record):
    """Records in a stream of its own and returns the executable graph."""
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        graph.capture_begin()
        record(stream)
        graph.capture_end()
    torch.cuda.synchronize()
    return graph


def launch(sizes, runs):
    """A launch: the call alone, behind a kernel that spins; and launch and run."""
    launches = sizes[0]
    x = counters()

    def submit():
        for _ in range(launches):
            x.add_(1)

    submit()
    expect(x, launches, "launch")

    def call():
        torch.cuda._sleep(int(16e6))  # about 8 ms at 2 GHz
        begin = time.perf_counter()
        submit()
        seconds = time.perf_counter() - begin
        torch.cuda.synchronize()
        return seconds

    def throughput():
        for _ in range(4):
            submit()
        torch.cuda.synchronize()

    return {
        "call": median_us(runs, launches, call),
        "throughput": median_us(runs, 4 * launches, throughput),
    }


def graph(sizes, runs):
    """Replay of a chain of tiny kernels: the call alone, and up to the end of the last one."""
    us = {}
    for nodes in sizes:
        x = counters()
        exec_ = capture(lambda _stream: [x.add_(1) for _ in range(nodes)])
        x.zero_()
        for _ in range(3):
            exec_.replay()
        expect(x, 3 * nodes, f"graph of {nodes}")

        def call():
            begin = time.perf_counter()
            exec_.replay()
            seconds = time.perf_counter() - begin
            torch.cuda.synchronize()
            return seconds

        def replay():
            exec_.replay()
            torch.cuda.synchronize()

        us[f"call:{nodes}"] = median_us(runs, 1, call)
        us[f"replay:{nodes}"] = median_us(runs, 1, replay)
    return us


def instantiate(sizes, runs):
    """Capture of a chain, which instantiates it too."""
    us = {}
    for nodes in sizes:
        x = counters()
        stream = torch.cuda.Stream()

        def make():
            made = torch.cuda.CUDAGraph()
            with torch.cuda.stream(stream):
                begin = time.perf_counter()
                made.capture_begin()
                for _ in range(nodes):
                    x.add_(1)
                made.capture_end()
                seconds = time.perf_counter() - begin
            return seconds, made

        _, first = make()
        x.zero_()
        first.replay()
        expect(x, nodes, f"instantiated graph of {nodes}")
        us[str(nodes)] = median_us(min(runs, 10 if nodes > 1000 else 30), 1, lambda: make()[0])
    return us


def fork_join(sizes, runs):
    """layers x (fork, a kernel on each stream, join): tiny kernels, then long ones."""
    layers, kernel_us = sizes
    alt = torch.cuda.Stream()
    a, b = counters(), counters()

    def forks(on_main, on_alt):
        def record(main):
            for _ in range(layers):
                alt.wait_stream(main)
                with torch.cuda.stream(alt):
                    on_alt()
                on_main()
                main.wait_stream(alt)

        return capture(record)

    def timed(exec_):
        def replay():
            exec_.replay()
            torch.cuda.synchronize()

        replay()
        return median_us(runs, 1, replay)

    tiny = forks(lambda: a.add_(1), lambda: b.add_(1))
    a.zero_()
    b.zero_()
    tiny.replay()
    expect(a, layers, "fork and join, main")
    expect(b, layers, "fork and join, alt")
    cycles = int(kernel_us * cycles_per_us())

    def sleep():
        torch.cuda._sleep(cycles)

    def chain(_stream):
        for _ in range(layers):
            sleep()

    return {
        "tiny": timed(tiny),
        "long:alone": timed(capture(chain)),
        "long:both": timed(forks(sleep, sleep)),
    }


def cycles_per_us():
    """Of the clock that `_sleep` counts."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    cycles = int(1e8)
    torch.cuda._sleep(cycles)
    begin.record()
    torch.cuda._sleep(cycles)
    end.record()
    end.synchronize()
    return cycles / (begin.elapsed_time(end) * 1000)


def event(sizes, runs):
    """Kernel, record and wait for the event on an idle stream."""
    trips = sizes[0]
    mark = torch.cuda.Event()
    x = counters()

    def go():
        for _ in range(trips):
            x.add_(1)
            mark.record()
            mark.synchronize()

    go()
    expect(x, trips, "event")
    return {"kernel": median_us(runs, trips, go)}


def transfer(sizes, runs):
    """One copy and the wait for it, of ordinary and of pinned memory."""
    us = {}
    for size in sizes:
        device = torch.zeros(size, dtype=torch.uint8, device="cuda")
        pattern = torch.arange(size, dtype=torch.int64).remainder_(251).to(torch.uint8)
        back = torch.empty(size, dtype=torch.uint8)
        kinds = {"": (pattern, back), "pinned-": (pattern.pin_memory(), back.pin_memory())}
        for kind, (source, destination) in kinds.items():

            def to():
                device.copy_(source, non_blocking=True)
                torch.cuda.synchronize()

            def from_():
                destination.copy_(device, non_blocking=True)
                torch.cuda.synchronize()

            device.zero_()
            destination.zero_()
            to()
            from_()
            if not torch.equal(destination, pattern):
                raise SystemExit(f"{kind}transfer of {size} bytes: other bytes came back")
            few = min(runs, 20 if size >= 2**26 else 60)
            us[f"{kind}to:{size}"] = median_us(few, 1, to)
            us[f"{kind}from:{size}"] = median_us(few, 1, from_)
    return us


def allocation(sizes, runs):
    """torch.empty and del, by the caching allocator."""
    us = {}
    for size in sizes:
        pairs = 16 if size > 2**24 else 200

        def go():
            for _ in range(pairs):
                x = torch.empty(size, dtype=torch.uint8, device="cuda")
                del x
            torch.cuda.synchronize()

        go()
        us[str(size)] = median_us(runs, pairs, go)
    return us


SECTIONS = {
    "launch": launch,
    "graph": graph,
    "instantiate": instantiate,
    "fork-join": fork_join,
    "event": event,
    "transfer": transfer,
    "allocation": allocation,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("section", choices=SECTIONS)
    parser.add_argument("sizes", nargs="*", type=int)
    given = parser.parse_args()
    if not torch.cuda.is_available():
        print(json.dumps({"status": f"missing: PyTorch {torch.__version__} sees no GPU", "us": {}}))
        return
    warm_up()
    with torch.no_grad():
        us = SECTIONS[given.section](given.sizes, RUNS)
    status = f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}"
    print(json.dumps({"status": status, "us": us}))


if __name__ == "__main__":
    sys.exit(main())
