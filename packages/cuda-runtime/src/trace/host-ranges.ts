import { threadId } from 'node:worker_threads';
import { environment } from '../native/environment.js';
import type { CaptureMark, HostRange } from './trace-span.js';

/** What the calling thread did, for one trace. */
export interface HostRecording {
  readonly ranges: HostRange[];
  readonly captures: CaptureMark[];
}

const recordings = new Set<HostRecording>();
let hasTool = false;
let isWanted = false;

/** Asks once whether a tool listens to NVTX ranges. Called when a runtime is opened. */
export function attachTool(): void {
  hasTool = environment().binding.nvtxIsOn();
  isWanted = hasTool || recordings.size > 0;
}

/** Whether ranges of this thread go anywhere. Hot paths ask before they build a name. */
export function wantsHostRanges(): boolean {
  return isWanted;
}

/** Ranges and captures of this thread from now on. */
export function startHostRecording(): HostRecording {
  const recording = { ranges: [], captures: [] };
  recordings.add(recording);
  isWanted = true;
  return recording;
}

/** Ends a recording. */
export function stopHostRecording(recording: HostRecording): void {
  recordings.delete(recording);
  isWanted = hasTool || recordings.size > 0;
}

/** Runs `body` as a range of the NVTX domain `cuda-runtime` and of the traces that are on. */
export function hostRange<T>(name: string, body: () => T): T {
  if (!isWanted) return body();
  const startNs = nowNs();
  const tool = hasTool ? environment().binding : undefined;
  tool?.nvtxPush(name);
  try {
    return body();
  } finally {
    tool?.nvtxPop();
    const range = { name, startNs, endNs: nowNs(), thread: threadId };
    for (const { ranges } of recordings) ranges.push(range);
  }
}

/** Notes a capture's begin or end in the traces that are on. */
export function markCapture(
  phase: CaptureMark['phase'],
  stream: string,
  captureId: bigint | undefined,
): void {
  const mark = { phase, stream, captureId: Number(captureId ?? 0n), ns: nowNs() };
  for (const { captures } of recordings) captures.push(mark);
}

// The clock of the native spans, too.
function nowNs(): number {
  return Number(process.hrtime.bigint());
}
