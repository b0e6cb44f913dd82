/**
 * False where kernels run one after another whatever their order allows, and a launch may wait for
 * the one before: under compute-sanitizer. What such a kernel computes is looked at there too, what
 * it overlaps is not.
 */
export const kernelsOverlap = process.env['CUDA_RUNTIME_SANITIZER'] === undefined;

/**
 * False where the device may be lost as soon as a graph runs a conditional body: under memcheck of
 * compute-sanitizer 2025.3 with driver 580.159.04, which reports reads inside of allocations as
 * outside, also in a C++ program without this package (docs/cuda-backend.md).
 */
export const bodiesRun = process.env['CUDA_RUNTIME_SANITIZER'] !== 'memcheck';
