/** Whether a stream is being captured, and what its next node depends on. */
export interface StreamCapture {
  readonly captureStatus: 'none' | 'active' | 'invalidated';
  readonly captureId: bigint | undefined;
  /** Ids of the nodes that the next one will depend on; undefined when not capturing (CB22). */
  readonly captureDependencies: readonly number[] | undefined;
  /**
   * Replaces what the next node depends on, or adds to it (CB23, CB24). Nodes that were cut off
   * need no join. @throws CaptureError when not capturing, ArgumentError
   */
  setCaptureDependencies(nodes: readonly number[], how?: 'replace' | 'add'): void;
}
