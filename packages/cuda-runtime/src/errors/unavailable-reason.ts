/**
 * Why a backend cannot be used, and the next step for each reason: those of specification 2.6, and
 * `WRONG_SETTING`, a variable of the environment that every `open` without options refuses.
 */
export const unavailableHints = {
  NO_ADDON:
    'Install the optional dependencies (`npm install --include=optional`; remove node_modules and a lock file that was made on another platform first), or build it on this machine (`npx @altstream/cuda-runtime build`), or name a built file in CUDA_RUNTIME_BINARY',
  NODE_TOO_OLD: 'Upgrade Node: Node-API 8 is needed',
  LIBC: 'Build the addon on this machine (`npx @altstream/cuda-runtime build`), or use a newer system',
  BUILT_WITHOUT_CUDA:
    'Install the CUDA toolkit and build the addon again (`npx @altstream/cuda-runtime build --CDCRT_CUDA=ON`)',
  NO_DRIVER: 'Install the NVIDIA driver; in a container pass the GPU through',
  DRIVER_TOO_OLD: 'Upgrade the NVIDIA driver',
  NO_DEVICE: 'Check that a device is visible (CUDA_VISIBLE_DEVICES, container options)',
  STUB_OR_MISMATCH: 'Remove the toolkit stub or the second driver from the library path',
  WRONG_SETTING:
    'Unset or correct the variable; README.md of @altstream/cuda-runtime, "Environment", has the values',
  INIT_FAILED: 'See the message; a process that used CUDA before `fork` cannot use it after',
} as const;

/** Why a backend cannot be used. */
export type UnavailableReason = keyof typeof unavailableHints;

/** True for one of the reasons. */
export function isUnavailableReason(value: unknown): value is UnavailableReason {
  return typeof value === 'string' && Object.hasOwn(unavailableHints, value);
}
