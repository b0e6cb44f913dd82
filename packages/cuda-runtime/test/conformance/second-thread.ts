/** The thread B of the table: opens the same runtime and makes one call for each message. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  type CaptureMode,
  CudaRuntimeError,
  importHandle,
  type OpenOptions,
  open,
  type Stream,
} from '../../src/index.js';
import { shapeOf } from './scene.js';

/** What thread A asks for; the tokens are of its streams. */
export interface Request {
  readonly command: string;
  readonly mode: CaptureMode;
  readonly tokens: readonly string[];
}

const { options, manifest } = workerData as { options: OpenOptions; manifest: string };
const runtime = await open(options);
const device = runtime.device();
const own = device.createStream({ name: 'own' });
const kernel = (await runtime.loadModule({ manifest })).kernel('test_empty');
const event = own.record();
own.beginCapture();
const graph = own.endCapture();
await own.synchronize();

const k = (stream: Stream) => stream.launch(kernel, { grid: [1], block: [1] }, { tag: 0 });

// What thread A asks for here, to be ended here.
let made: { dispose(): void } | undefined;

const makers: Readonly<Record<string, () => { dispose(): void }>> = {
  'make executable': () => graph.instantiateSync(),
  'make graph': () => device.createGraph(),
  'make free host': () => device.allocHostSync(256),
  'make async free': () => device.alloc(256, { stream: own }),
  'make event': () => own.record(),
  'make stream': () => device.createStream(),
};

const calls: Readonly<Record<string, (streams: Stream[], mode: CaptureMode) => unknown>> = {
  begin: ([s1], mode) => s1?.beginCapture({ mode }),
  end: ([s1]) => s1 && shapeOf(s1.endCapture()),
  kernel: ([s1]) => s1 && k(s1),
  malloc: () => device.alloc(256, { stream: own }).dispose(),
  instantiate: () => graph.instantiateSync().dispose(),
  'event query': () => event.isDone(),
  'event synchronise': () => event.waitSync(),
  'stream synchronise': () => own.synchronizeSync(),
  'device synchronise': () => device.synchronizeSync(),
  dispose: () => made?.dispose(),
  fork: ([s1, s2]) => s1 && s2?.wait(s1.record()),
};

// The number that a call answers, or the text that it gives.
function answer({ command, mode, tokens }: Request): string {
  const streams = tokens.map((token) => importHandle(token, 'stream'));
  try {
    const make = makers[command];
    if (make) made = make();
    const result = calls[command]?.(streams, mode);
    return typeof result === 'string' ? result : '0';
  } catch (error) {
    if (!CudaRuntimeError.isInstance(error)) throw error;
    return String(error.cuda?.number ?? error.code);
  } finally {
    for (const stream of streams) stream.dispose();
  }
}

parentPort?.on('message', (request: Request) => {
  parentPort?.postMessage(answer(request));
});
parentPort?.postMessage('ready');
