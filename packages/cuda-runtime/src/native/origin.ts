import { fileURLToPath } from 'node:url';
import { environment } from './environment.js';

// Frames of this package say nothing to whoever looks for a missing wait. From source this is
// `src`.
const folder = new URL('..', import.meta.url).href;
const folders = [folder, fileURLToPath(folder)];
const mostFrames = 25;

/**
 * Tells the race checker that what this thread submits next comes from the caller of this package.
 */
export function noteOrigin(): void {
  environment().binding.setOrigin(callerStack());
}

function callerStack(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = mostFrames;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = limit;
  const frames = stack.split('\n').slice(1);
  return frames.filter((frame) => !folders.some((own) => frame.includes(own))).join('\n');
}
