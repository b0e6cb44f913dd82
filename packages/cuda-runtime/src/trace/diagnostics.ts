import { channel } from 'node:diagnostics_channel';

/** What is published on `cuda-runtime:capture`. */
export interface CaptureMessage {
  readonly phase: 'begin' | 'end' | 'abort';
  /** `name#id` of the stream. */
  readonly stream: string;
  readonly captureId: bigint | undefined;
  /** Why an end gave no graph. */
  readonly error?: unknown;
}

/**
 * What is published on `cuda-runtime:guard`: a call was refused that would have broken a capture.
 */
export interface GuardMessage {
  /** The row of the specification's table, e.g. `CU01`. */
  readonly rule: string;
  readonly code: string;
  readonly api: string;
  readonly stream: string;
  readonly captureId: bigint;
  readonly detail: string;
}

/** What is published on `cuda-runtime:deviceLost`, for each call that met it. */
export interface DeviceLostMessage {
  readonly api: string;
  /** CUDA's number, e.g. 700. */
  readonly number: number;
  readonly detail: string;
}

/** What is published on `cuda-runtime:leak`: an object was collected that nobody disposed. */
export interface LeakMessage {
  /** Kind and label of the object. */
  readonly what: string;
  /** Where it was made; only with `CRT_WARN_LEAKS=1`. */
  readonly stack: string | undefined;
  /** Views of its memory that were open; only with `CRT_WARN_LEAKS=1`. */
  readonly views: readonly string[];
}

interface Messages {
  readonly capture: CaptureMessage;
  readonly guard: GuardMessage;
  readonly deviceLost: DeviceLostMessage;
  readonly leak: LeakMessage;
}

const channels = {
  capture: channel('cuda-runtime:capture'),
  guard: channel('cuda-runtime:guard'),
  deviceLost: channel('cuda-runtime:deviceLost'),
  leak: channel('cuda-runtime:leak'),
};

/** Publishes on `cuda-runtime:<name>`; costs a comparison while nobody subscribes. */
export function publish<Name extends keyof Messages>(name: Name, message: Messages[Name]): void {
  const target = channels[name];
  if (target.hasSubscribers) target.publish(message);
}
