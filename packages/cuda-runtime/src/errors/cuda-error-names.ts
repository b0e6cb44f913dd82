/** CUDA's own names of the error numbers that this package meets (runtime API numbering). */
const names: Readonly<Record<number, string>> = {
  1: 'cudaErrorInvalidValue',
  2: 'cudaErrorMemoryAllocation',
  3: 'cudaErrorInitializationError',
  4: 'cudaErrorCudartUnloading',
  9: 'cudaErrorInvalidConfiguration',
  34: 'cudaErrorStubLibrary',
  35: 'cudaErrorInsufficientDriver',
  100: 'cudaErrorNoDevice',
  101: 'cudaErrorInvalidDevice',
  209: 'cudaErrorNoKernelImageForDevice',
  400: 'cudaErrorInvalidResourceHandle',
  401: 'cudaErrorIllegalState',
  402: 'cudaErrorLossyQuery',
  500: 'cudaErrorSymbolNotFound',
  600: 'cudaErrorNotReady',
  700: 'cudaErrorIllegalAddress',
  710: 'cudaErrorAssert',
  719: 'cudaErrorLaunchFailure',
  800: 'cudaErrorNotPermitted',
  801: 'cudaErrorNotSupported',
  802: 'cudaErrorSystemNotReady',
  803: 'cudaErrorSystemDriverMismatch',
  804: 'cudaErrorCompatNotSupportedOnDevice',
  900: 'cudaErrorStreamCaptureUnsupported',
  901: 'cudaErrorStreamCaptureInvalidated',
  902: 'cudaErrorStreamCaptureMerge',
  903: 'cudaErrorStreamCaptureUnmatched',
  904: 'cudaErrorStreamCaptureUnjoined',
  905: 'cudaErrorStreamCaptureIsolation',
  906: 'cudaErrorStreamCaptureImplicit',
  907: 'cudaErrorCapturedEvent',
  908: 'cudaErrorStreamCaptureWrongThread',
  910: 'cudaErrorGraphExecUpdateFailure',
  912: 'cudaErrorInvalidClusterSize',
  999: 'cudaErrorUnknown',
};

/** The name of a CUDA error number; `cudaError<number>` when this package does not know it. */
export function cudaErrorName(number: number): string {
  return names[number] ?? `cudaError${number}`;
}
