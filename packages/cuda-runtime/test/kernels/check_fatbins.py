"""Runs the test kernels of the fatbins on a GPU through the driver API, without Node and packages.

The kernels are checked against the layout table of the manifest: every parameter block is packed at
the offsets that TypeScript would use. Usage: python3 check_fatbins.py DIR [RESULT.json], where DIR
holds manifest.json and the fatbins. Exit code 1 if anything is wrong.
"""

import ctypes
import json
import random
import struct
import sys

FORMATS = {"buf": "Q", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f32": "f", "f64": "d", "bool": "?"}
SIZES = [0, 1, 3, 255, 256, 257, 100_003]


class Cuda:
    """The few driver calls that are needed; every one is checked."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)
        name, version = ctypes.create_string_buffer(100), ctypes.c_int()
        self("cuDeviceGetName", name, 100, device)
        self("cuDriverGetVersion", ctypes.byref(version))
        self.device_name, self.driver = name.value.decode(), version.value

    def __call__(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} answered {status}")

    def buffer(self, data: bytes):
        pointer = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(4, len(data))))
        if data:
            self("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(len(data)))
        return pointer.value

    def read(self, pointer, count):
        data = ctypes.create_string_buffer(count)
        self("cuMemcpyDtoH_v2", data, ctypes.c_uint64(pointer), ctypes.c_size_t(count))
        return data.raw

    def stream(self):
        stream = ctypes.c_void_p()
        self("cuStreamCreate", ctypes.byref(stream), 1)
        return stream


class Kernels:
    """Kernels by name, launched with parameter values by field name."""

    def __init__(self, cuda, directory):
        self.cuda = cuda
        with open(f"{directory}/manifest.json", encoding="utf-8") as file:
            manifest = json.load(file)
        self.table = {kernel["name"]: kernel for kernel in manifest["kernels"]}
        self.libraries = {}
        self.data = []
        for name in manifest["fatbins"]:
            with open(f"{directory}/{name}", "rb") as file:
                self.data.append(file.read())
            library = ctypes.c_void_p()
            none = [None, None, 0, None, None, 0]
            cuda("cuLibraryLoadData", ctypes.byref(library), self.data[-1], *none)
            self.libraries[name] = library

    def check_layout(self, name):
        """The size that the fatbin reports and the driver's parameter info equal the table's."""
        kernel, entry = self.table[name], self.handle(name)
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        self.cuda("cuKernelGetParamInfo", entry, ctypes.c_size_t(0), ctypes.byref(offset), ctypes.byref(size))
        pointer, count = ctypes.c_uint64(), ctypes.c_size_t()
        symbol = f"{name}_params_bytes".encode()
        library = self.libraries[kernel["fatbin"]]
        self.cuda("cuLibraryGetGlobal", ctypes.byref(pointer), ctypes.byref(count), library, symbol)
        reported = struct.unpack("I", self.cuda.read(pointer.value, 4))[0]
        return offset.value == 0 and size.value == reported == kernel["bytes"]

    def handle(self, name):
        kernel = ctypes.c_void_p()
        library = self.libraries[self.table[name]["fatbin"]]
        self.cuda("cuLibraryGetKernel", ctypes.byref(kernel), library, name.encode())
        return kernel

    def launch(self, name, values, grid=1, block=1, stream=None):
        kernel = self.table[name]
        params = bytearray(kernel["bytes"])
        for field in kernel["fields"]:
            struct.pack_into(FORMATS[field["type"]], params, field["offset"], values[field["name"]])
        block_bytes = ctypes.create_string_buffer(bytes(params), len(params))
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(block_bytes))
        dimensions = [grid, 1, 1, block, 1, 1, 0]
        self.cuda("cuLaunchKernel", self.handle(name), *dimensions, stream, pointers, None)


def elementwise(cuda, kernels, count):
    """Every element-wise kernel for one size, with poison behind the last element."""
    rng = random.Random(count)
    poison = b"\xa5" * 64
    grid = max(1, (count + 255) // 256)
    ints = [rng.randrange(-(2**31), 2**31) for _ in range(count)]
    y = cuda.buffer(poison * (count // 16 + 1) + poison)
    kernels.launch("test_fill", {"y": y, "count": count, "value": -7}, grid, 256)
    filled = cuda.read(y, count * 4 + 64)
    right = filled == struct.pack("i", -7) * count + poison
    y = cuda.buffer(struct.pack(f"{count}i", *ints) + poison)
    kernels.launch("test_accumulate", {"y": y, "count": count, "factor": 3, "x": 11}, grid, 256)
    wrapped = [(value * 3 + 11) & 0xFFFFFFFF for value in ints]
    right &= cuda.read(y, count * 4 + 64) == struct.pack(f"{count}I", *wrapped) + poison
    a, b = ([float(rng.randrange(-1000, 1000)) for _ in range(count)] for _ in "ab")
    pa, pb = (cuda.buffer(struct.pack(f"{count}f", *values)) for values in (a, b))
    py = cuda.buffer(poison * (count // 16 + 1) + poison)
    kernels.launch("test_add", {"a": pa, "b": pb, "y": py, "count": count, "scale": 0.5}, grid, 256)
    sums = [(left + other) * 0.5 for left, other in zip(a, b)]
    right &= cuda.read(py, count * 4 + 64) == struct.pack(f"{count}f", *sums) + poison
    squares = cuda.buffer(poison * (count // 8 + 1) + poison)
    kernels.launch("test_parallel", {"y": squares, "count": count, "grain": 1}, grid, 256)
    expected = struct.pack(f"{count}q", *(i * i for i in range(count))) + poison
    return right and cuda.read(squares, count * 8 + 64) == expected


def rendezvous(cuda, kernels):
    """Two kernels on two streams that wait for each other: both must be resident at once."""
    flags = cuda.buffer(b"\0" * 8)
    met = [cuda.buffer(b"\0" * 4) for _ in range(2)]
    for side, stream in enumerate((cuda.stream(), cuda.stream())):
        values = {"flags": flags, "met": met[side], "side": side, "timeout_ms": 2000}
        kernels.launch("test_rendezvous", values, stream=stream)
    cuda("cuCtxSynchronize")
    return all(struct.unpack("i", cuda.read(one, 4))[0] == 1 for one in met)


def dependent(cuda, kernels):
    """The pair for programmatic launches, here in plain stream order."""
    x, y, early = (cuda.buffer(b"\0" * 4) for _ in range(3))
    first = {"x": 0, "y": x, "started_early": 0, "value": 42, "microseconds": 200}
    second = {"x": x, "y": y, "started_early": early, "value": 42, "microseconds": 0}
    kernels.launch("test_pdl_first", first)
    kernels.launch("test_pdl_second", second)
    return struct.unpack("i", cuda.read(y, 4))[0] == 42


def main(directory, result_path=None):
    cuda = Cuda()
    kernels = Kernels(cuda, directory)
    rows = [{"case": {"layout": name}, "right": kernels.check_layout(name)} for name in kernels.table]
    rows += [{"case": {"count": n}, "right": elementwise(cuda, kernels, n)} for n in SIZES]
    rows.append({"case": {"check": "rendezvous"}, "right": rendezvous(cuda, kernels)})
    rows.append({"case": {"check": "dependent"}, "right": dependent(cuda, kernels)})
    result = {"bench": "test-kernels", "device": cuda.device_name, "driver": cuda.driver, "rows": rows}
    if result_path:
        with open(result_path, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    wrong = [row for row in rows if not row["right"]]
    print(f"{cuda.device_name}: {len(rows) - len(wrong)} right, {len(wrong)} wrong {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
