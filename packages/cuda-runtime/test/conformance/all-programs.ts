import { acrossStreams } from './programs/across-streams.js';
import { beginAndEnd } from './programs/begin-and-end.js';
import { graphMemory } from './programs/calls/graph-memory.js';
import { relaxedThreads } from './programs/calls/relaxed-threads.js';
import { callsDuringCapture } from './programs/calls-during-capture.js';
import { callsOnGraphs } from './programs/calls-on-graphs.js';
import { capturedEvents } from './programs/captured-events.js';
import { lostDevice } from './programs/devices/lost-device.js';
import { graphs } from './programs/graphs.js';
import { invalidation } from './programs/invalidation.js';
import { legacyStream } from './programs/legacy-stream.js';
import { memory } from './programs/memory.js';
import type { Programs } from './programs/program.js';
import { programmatic } from './programs/programmatic.js';
import { threads } from './programs/threads.js';
import { update } from './programs/update.js';
import { withoutCapture } from './programs/without-capture.js';

/** Every program that our API can play. */
export const programs: Programs = {
  ...beginAndEnd,
  ...callsDuringCapture,
  ...callsOnGraphs,
  ...legacyStream,
  ...acrossStreams,
  ...capturedEvents,
  ...threads,
  ...invalidation,
  ...graphs,
  ...update,
  ...memory,
  ...programmatic,
  ...withoutCapture,
  ...graphMemory,
  ...relaxedThreads,
  ...lostDevice,
};
