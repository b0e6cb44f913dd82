import type { Runtime } from '@altstream/cuda-runtime';
import type { Engine, StepWatch } from '@altstream/engine';
import type { LoadProgress } from '../engine-link.js';
import type { DeviceFacts, EngineInfo } from '../messages.js';

/** An engine, and what it runs on. */
export interface HostedEngine {
  readonly engine: Engine;
  /** Undefined for a mock. */
  readonly runtime: Runtime | undefined;
  readonly info: EngineInfo;
  /** What the engine does not know itself. */
  facts(): DeviceFacts;
  close(): Promise<void>;
}

/** What an engine reports while it starts and when it gives up. */
export interface EngineHostReports {
  readonly onProgress: (progress: LoadProgress) => void;
  readonly watch: StepWatch;
  readonly onFault: (error: Error) => void;
  /** Told of faults that the engine lives with. */
  readonly onWarning: (error: Error) => void;
}
