/** Options of a stream. */
export interface StreamOptions {
  /** Lower is more urgent; clamped to the device's range. */
  readonly priority?: number;
  /** Synchronises with the legacy stream; default false. */
  readonly blocking?: boolean;
  /** For messages, traces and pictures. */
  readonly name?: string;
}
