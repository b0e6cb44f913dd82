// The engine's thread: loads the model, runs the engine, forwards events. It never touches a socket.

import { parentPort, workerData } from 'node:worker_threads';
import type { Engine, GenerationEvent, Submission } from '@altstream/engine';
import { startEngine } from './engine-host.js';
import { EventBatch } from './event-batch.js';
import {
  type EngineWorkerOptions,
  type FromEngine,
  type ToEngine,
  toWireError,
  type WireEvent,
} from './messages.js';

if (!parentPort) throw new Error('engine-worker runs as a worker thread only');
const port = parentPort;
const post = (message: FromEngine): void => port.postMessage(message);
const batch = new EventBatch((events) => post({ type: 'events', events }));
const submissions = new Map<number, Submission>();

try {
  const { engine, info, close } = await startEngine(workerData as EngineWorkerOptions, {
    onProgress: (progress) => post({ type: 'progress', ...progress }),
    onFault: (error) => post({ type: 'failed', error: toWireError(error) }),
  });
  port.on('message', (message: ToEngine) => {
    if (message.type === 'close') void end(close);
    else handle(engine, message);
  });
  post({ type: 'ready', info });
} catch (error) {
  post({ type: 'failed', error: toWireError(error) });
  port.close();
}

function handle(engine: Engine, message: Exclude<ToEngine, { type: 'close' }>): void {
  switch (message.type) {
    case 'submit':
      submit(engine, message);
      return;
    case 'abort':
      submissions.get(message.id)?.abort();
      return;
    case 'stats':
      post({ type: 'stats', id: message.id, stats: engine.stats() });
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
  try {
    const submission = engine.submit(prompt, parameters, (event) => {
      if (event.type === 'finish') submissions.delete(id);
      batch.add(id, toWireEvent(event));
    });
    submissions.set(id, submission);
    post({ type: 'accepted', id });
  } catch (error) {
    post({ type: 'refused', id, error: toWireError(error) });
  }
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
