// The engine's thread: loads the model, runs the engine, forwards events. It never touches a
// socket.

import type { Engine, GenerationEvent, Submission } from '@altstream/engine';
import { makeAnswer } from './answer.js';
import { Credits } from './credits.js';
import { EventBatch } from './events/event-batch.js';
import { flushCache } from './flush-cache.js';
import { RemoteMatchers } from './grammar/remote-matchers.js';
import { Heartbeat } from './heartbeat.js';
import { startEngine } from './host/engine-host.js';
import type { EngineHostReports } from './host/hosted-engine.js';
import { startMock } from './host/mock-host.js';
import {
  type DeviceFacts,
  type EngineWorkerData,
  type FromEngine,
  type ToEngine,
  toWireError,
  type WireEvent,
} from './messages.js';
import { Profiler } from './profiler.js';
import { FlightRecorder } from './steps/flight-recorder.js';
import { StepLog } from './steps/step-log.js';
import { watchThread } from './thread-health.js';
import { workerPort } from './threads/worker-port.js';

const { port, options, post } = workerPort<EngineWorkerData, FromEngine>('engine-worker');
const answer = makeAnswer(post);
const batch = new EventBatch((events) => {
  credits?.spend();
  post({ type: 'events', events, steps: log.take() });
});
let credits: Credits | undefined;
const submissions = new Map<number, Submission>();
const lookAtThread = watchThread();
/** Ids of requests by those of their submissions. */
const requests = new Map<number, number>();
const log = new StepLog(new FlightRecorder(options.recorder), (submission, tokens) => {
  const id = requests.get(submission);
  if (id !== undefined) batch.add(id, { type: 'prefill', tokens });
});
const grammars = new RemoteMatchers();

try {
  const reports: EngineHostReports = {
    onProgress: (progress) => post({ type: 'progress', ...progress }),
    onFault: (error) => post({ type: 'failed', error: toWireError(error) }),
    onWarning: (error) => post({ type: 'warning', error: toWireError(error) }),
    watch: log,
  };
  const { engine, runtime, info, facts, close } = options.mock
    ? await startMock(options, options.mock, reports)
    : await startEngine(options, reports);
  credits = new Credits((backlog) => engine.setBacklog(backlog));
  keepBeating(engine, new Heartbeat(options.heartbeat));
  const profiler = new Profiler(runtime, engine);
  port.on('message', (message: ToEngine) => {
    if (message.type === 'close') void end(close);
    else handle(message, { engine, profiler, facts });
  });
  post({ type: 'ready', info });
} catch (error) {
  post({ type: 'failed', error: toWireError(error) });
  port.close();
}

/** Beats while there is nothing to do and whenever steps were made; a hanging device stops it. */
function keepBeating(engine: Engine, heartbeat: Heartbeat): void {
  let steps = -1;
  const beat = (): void => {
    const stats = engine.stats();
    const mayStep = credits?.backlog !== 'stuck';
    if (mayStep && stats.running + stats.waiting > 0 && stats.steps === steps) return;
    steps = stats.steps;
    heartbeat.beat();
  };
  beat();
  setInterval(beat, 500).unref();
}

function handle(
  message: Exclude<ToEngine, { type: 'close' }>,
  { engine, profiler, facts }: { engine: Engine; profiler: Profiler; facts: () => DeviceFacts },
): void {
  switch (message.type) {
    case 'submit':
      submit(engine, message);
      return;
    case 'grammars':
      grammars.attach(message.port, message.lost);
      return;
    case 'abort':
      submissions.get(message.id)?.abort();
      return;
    case 'stats':
      post({
        type: 'stats',
        id: message.id,
        stats: {
          ...engine.stats(),
          device: facts(),
          outputBacklogSteps: credits?.open ?? 0,
          thread: lookAtThread(),
        },
        steps: log.take(),
      });
      return;
    case 'acknowledge':
      credits?.refund(message.messages);
      return;
    case 'flush':
      void answer(message.id, () => flushCache(engine));
      return;
    case 'start-profile':
      void answer(message.id, () => profiler.start(message.options));
      return;
    case 'stop-profile':
      void answer(message.id, () => profiler.stop());
      return;
    case 'describe':
      post({ type: 'described', id: message.id, report: engine.describe() });
      return;
  }
}

function submit(
  engine: Engine,
  { id, prompt, parameters }: Extract<ToEngine, { type: 'submit' }>,
): void {
  const { grammar: wanted, ...sampling } = parameters;
  const grammar = wanted && grammars.open(wanted);
  try {
    const given = { ...sampling, ...(grammar && { grammar }) };
    const submission = engine.submit(prompt, given, (event) => {
      if (event.type === 'finish') forget(id);
      batch.add(id, toWireEvent(event));
    });
    submissions.set(id, submission);
    requests.set(submission.id, id);
    post({ type: 'accepted', id });
  } catch (error) {
    grammar?.dispose();
    post({ type: 'refused', id, error: toWireError(error) });
  }
}

function forget(id: number): void {
  const submission = submissions.get(id);
  if (submission) requests.delete(submission.id);
  submissions.delete(id);
}

function toWireEvent(event: GenerationEvent): WireEvent {
  if (event.type !== 'finish') return event;
  const { error, ...rest } = event;
  return error ? { ...rest, error: toWireError(error) } : rest;
}

async function end(close: () => Promise<void>): Promise<void> {
  await close();
  batch.flush();
  post({ type: 'closed' });
  port.close();
}
