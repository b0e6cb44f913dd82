import { acrossStreams } from './across-streams.js';
import { beginAndEnd } from './begin-and-end.js';
import { callsDuringCapture } from './calls-during-capture.js';
import { callsOnGraphs } from './calls-on-graphs.js';
import { capturedEvents } from './captured-events.js';
import { explicitGraphs } from './explicit-graphs.js';
import { graphs } from './graphs.js';
import { invalidation } from './invalidation.js';
import { legacyStream } from './legacy-stream.js';
import type { Programs } from './program.js';
import { programmatic } from './programmatic.js';
import { threads } from './threads.js';
import { updates } from './updates.js';
import { withoutCapture } from './without-capture.js';

/** Every program that our API can play. */
export const programs: Programs = {
  ...beginAndEnd,
  ...callsDuringCapture,
  ...callsOnGraphs,
  ...legacyStream,
  ...acrossStreams,
  ...capturedEvents,
  ...invalidation,
  ...graphs,
  ...explicitGraphs,
  ...updates,
  ...threads,
  ...programmatic,
  ...withoutCapture,
};
