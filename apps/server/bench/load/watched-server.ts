import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { altstreamMain } from '../../test/makers/serving.js';

/** What a thread keeps. */
export interface ThreadHeap {
  readonly usedBytes: number;
  /** Outside of the heap, held by objects in it. */
  readonly externalBytes: number;
}

/** What a server process used until a moment. */
export interface ProcessReading {
  readonly atMs: number;
  /** User and system time of all its threads. */
  readonly cpuMs: number;
  /** In memory, and of that what is in no file: heaps, and what native code allocated. */
  readonly rssBytes: number;
  readonly anonymousBytes: number;
  /** Of each thread, by the name of its file; none unless garbage was collected. */
  readonly heaps: Readonly<Record<string, ThreadHeap>>;
  /** Kinds of the handles and requests that keep the main thread alive. */
  readonly handles: readonly string[];
  /** Open files, sockets and pipes. */
  readonly descriptors: number;
  /** From one timer of the main thread to the next, since the start or the last reset. */
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** How a reading is taken. */
export interface ReadingOptions {
  /** In all threads. */
  readonly collectGarbage?: boolean;
  /** Counts the delays of the event loop anew from here on. */
  readonly reset?: boolean;
}

/** A server process of the built command, watched from outside. */
export interface WatchedServer {
  readonly url: string;
  readonly child: ChildProcess;
  read(options?: ReadingOptions): Promise<ProcessReading>;
  /** Everything that it printed so far. */
  output(): string;
  /** Ends it by SIGTERM; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** How the process is started, besides the flags of `serve`. */
export interface WatchedStart {
  /** Timer of the event loop's watch; smaller sees more and costs more. */
  readonly resolutionMs?: number;
  /** Modules to load first. */
  readonly preload?: readonly URL[];
  readonly env?: Readonly<Record<string, string>>;
  /** Gets every line that is printed, as soon as it is whole. */
  readonly onLine?: (line: string) => void;
}

/** Starts `altstream serve` on a free loopback port and waits until it is ready. */
export async function startWatched(
  flags: readonly string[],
  { resolutionMs = 1, preload = [], env = {}, onLine = () => undefined }: WatchedStart = {},
): Promise<WatchedServer> {
  const modules = [new URL('watch-process.mjs', import.meta.url), ...preload];
  const imports = modules.flatMap(({ href }) => ['--import', href]);
  const profile = process.env['LOAD_CPU_PROFILE'];
  const profiler = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const child = spawn(
    process.execPath,
    ['--expose-gc', ...profiler, ...imports, altstreamMain, 'serve', '--port', '0', ...flags],
    {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...env, WATCH_RESOLUTION_MS: String(resolutionMs) },
    },
  );
  let output = '';
  let rest = '';
  const collect = (chunk: unknown): void => {
    output = (output + String(chunk)).slice(-100_000);
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  while (!/Altstream serves/.test(output)) {
    if (child.exitCode !== null) throw new Error(`serve ended: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  let readings = 0;
  return {
    child,
    url: /(http:\/\/[\d.:]+)\/v1/.exec(output)?.[1] ?? '',
    output: () => output,
    read: async (options = {}) => {
      const id = readings++;
      child.send({ id, ...options });
      for (;;) {
        const [reading] = (await once(child, 'message')) as [ProcessReading & { id: number }];
        if (reading.id === id) return reading;
      }
    },
    stop: async () => {
      if (child.exitCode === null) {
        const exited = once(child, 'close'); // its last lines are read by then
        child.kill('SIGTERM');
        await exited;
      }
      return child.exitCode;
    },
  };
}
