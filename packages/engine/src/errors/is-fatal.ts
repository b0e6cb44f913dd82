import { CudaRuntimeError } from '@altstream/cuda-runtime';

/** After these nothing that the device computes can be trusted, so no request may go on. */
export function isFatal(error: unknown): boolean {
  const codes = ['CRT_DEVICE_LOST', 'CRT_DISPOSED'];
  return CudaRuntimeError.isInstance(error) && codes.includes(error.code);
}
