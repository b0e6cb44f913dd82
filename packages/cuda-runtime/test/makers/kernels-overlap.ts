/** False where kernels run one after another whatever their order allows: under compute-sanitizer. */
export const kernelsOverlap = process.env['CUDA_RUNTIME_SANITIZER'] === undefined;
