// Preloaded into a server process: answers over the channel to its parent what the process used so
// far, and what the heap of each of its threads holds.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/** How long threads are waited for to say what they hold. */
const mostMs = 30_000;
const questions = new BroadcastChannel('watch: questions');
const answers = new BroadcastChannel('watch: answers');
const workers = new Set();
questions.unref();
answers.unref();

if (!isMainThread) {
  questions.onmessage = ({ data: id }) => {
    const name = basename(process.argv[1] ?? 'worker').replace(/\.\w+$/, '');
    answers.postMessage({ id, thread: `${name} ${threadId}`, heap: heapOf() });
  };
} else if (process.send) {
  process.on('worker', (worker) => {
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  });
  // The histogram counts from timer to timer, so a quiet loop shows the resolution itself.
  const delay = monitorEventLoopDelay({ resolution: Number(process.env.WATCH_RESOLUTION_MS) });
  delay.enable();
  process.on('message', (question) => void read(question, delay));
  process.channel.unref();
}

async function read({ id, collectGarbage, reset }, delay) {
  // Garbage that is collected by order keeps the loop waiting as no request does; it counts as one
  // delay.
  delay.disable();
  const loopDelayMs = {
    p50: delay.percentile(50) / 1e6,
    p99: delay.percentile(99) / 1e6,
    max: delay.max / 1e6,
  };
  const heaps = collectGarbage ? { main: heapOf(), ...(await heapsOfThreads(id)) } : {};
  const { user, system } = process.cpuUsage();
  process.send({
    id,
    ...{ atMs: performance.now(), cpuMs: (user + system) / 1000, loopDelayMs },
    ...{ ...resident(), heaps },
    handles: process.getActiveResourcesInfo().sort(),
    descriptors: readdirSync('/proc/self/fd').length,
  });
  if (reset) delay.reset();
  delay.enable();
}

async function heapsOfThreads(id) {
  const heaps = {};
  answers.onmessage = ({ data }) => {
    if (data.id === id) heaps[data.thread] = data.heap;
  };
  questions.postMessage(id);
  const until = performance.now() + mostMs;
  while (Object.keys(heaps).length < workers.size && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return heaps;
}

/**
 * After two collections: what the first finds unreachable has its outside memory given back by the
 * second.
 */
function heapOf() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return { usedBytes: heapUsed, externalBytes: external };
}

/** What of the process lies in memory, and the part of it that is in no file. */
function resident() {
  const status = readFileSync('/proc/self/status', 'utf8');
  const bytes = (name) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return { rssBytes: bytes('VmRSS'), anonymousBytes: bytes('RssAnon') };
}
