/**
 * False where kernels run one after another whatever their order allows, and a launch may wait for the one
 * before: under compute-sanitizer. What such a kernel computes is looked at there too, what it overlaps is not.
 */
export const kernelsOverlap = process.env['CUDA_RUNTIME_SANITIZER'] === undefined;
