import { expect } from 'vitest';
import { type CaptureMode, Event, Tensor } from '../../src/index.js';
import type { Row, Scene } from './scene.js';

interface Call {
  readonly id: string;
  readonly title: string;
  /** Answers in the modes global, thread_local, relaxed. */
  readonly answers: readonly [number, number, number];
  readonly nodes?: string;
  /** Whether a refusal breaks a raw capture; default true. */
  readonly breaks?: boolean;
  prepare?(scene: Scene): unknown;
  call(scene: Scene, prepared: never): unknown;
}

const modes: readonly CaptureMode[] = ['global', 'thread_local', 'relaxed'];
const always = [900, 900, 900] as const;
const strict = [900, 900, 0] as const;
const fine = [0, 0, 0] as const;

const calls: readonly Call[] = [
  { id: 'CU01', title: 'synchronise S1', answers: always, call: ({ s1 }) => s1.synchronizeSync() },
  { id: 'CU01', title: 'query S1', answers: always, call: ({ s1 }) => s1.isIdle() },
  {
    id: 'CU02',
    title: 'device synchronise',
    answers: always,
    call: ({ test }) => test.device.synchronizeSync(),
  },
  { id: 'CU03', title: 'query another stream', answers: strict, call: ({ s3 }) => s3.isIdle() },
  {
    id: 'CU03',
    title: 'synchronise another stream',
    answers: strict,
    call: ({ s3 }) => s3.synchronizeSync(),
  },
  {
    id: 'CU04',
    title: 'query the legacy stream',
    answers: strict,
    call: ({ test }) => test.device.legacyStream.isIdle(),
  },
  {
    id: 'CU05',
    title: 'query an event recorded outside',
    answers: strict,
    prepare: ({ s3 }) => s3.record(),
    call: (_, event: Event) => event.isDone(),
  },
  {
    id: 'CU05',
    title: 'synchronise a never-recorded event',
    answers: strict,
    call: (scene) => scene.event().waitSync(),
  },
  {
    id: 'CU06',
    title: 'query an event captured in this sequence',
    answers: [907, 907, 907],
    call: ({ s1 }) => s1.record().isDone(),
  },
  {
    id: 'CU07',
    title: 'elapsed time of events captured in this sequence',
    answers: [907, 907, 907],
    breaks: false,
    call(scene) {
      const [start, end] = [scene.event(true), scene.event(true)];
      scene.s1.record(start);
      scene.s1.record(end);
      return Event.elapsedMs(start, end);
    },
  },
  {
    id: 'CU08',
    title: 'create, record and dispose an event and another stream',
    answers: fine,
    call(scene) {
      scene.s1.record().dispose();
      scene.test.device.createStream().dispose();
    },
  },
  {
    id: 'CU15',
    title: 'copy from pinned memory becomes a node',
    answers: fine,
    nodes: 'ok 1/0',
    prepare: ({ test, s1 }) => ({
      host: test.device.allocHostSync(16),
      to: Tensor.allocate(test.device, [4], 'i32', { stream: s1 }),
    }),
    call: ({ s1 }, { to, host }: { to: never; host: never }) => s1.copy(to, host),
  },
  {
    id: 'CU26',
    title: 'launch an executable on S1',
    answers: always,
    prepare: emptyExecutable,
    call: ({ s1 }, executable: ReturnType<typeof emptyExecutable>) => executable.launch(s1),
  },
  {
    id: 'CU27',
    title: 'launch an executable on another stream',
    answers: fine,
    prepare: emptyExecutable,
    call: ({ s3 }, executable: ReturnType<typeof emptyExecutable>) => executable.launch(s3),
  },
  {
    id: 'CU31',
    title: 'priority of S1',
    answers: fine,
    call: ({ s1 }) => s1.priority,
  },
  {
    id: 'CU33',
    title: 'id and device of S1 and of another stream',
    answers: fine,
    call: ({ s1, s3 }) => [s1.id, s1.device, s3.id, s3.device],
  },
  {
    id: 'CU34',
    title: 'launch, record and wait on another stream run now and are not captured',
    answers: fine,
    call(scene) {
      scene.k(scene.s3);
      scene.s3.wait(scene.s3.record());
      scene.k(scene.test.device.legacyStream);
    },
  },
];

/** Rows CU: each call in each mode. */
export const callRows: readonly Row[] = calls.flatMap((call) =>
  modes.map((mode, index) => toRow(call, mode, call.answers[index] ?? 0)),
);

function toRow(call: Call, mode: CaptureMode, answer: number): Row {
  return {
    id: call.id,
    title: `${call.title} in mode ${mode} answers ${answer}`,
    run(scene) {
      const prepared = call.prepare?.(scene) as never;
      scene.s1.beginCapture({ mode });
      expect(scene.number(() => call.call(scene, prepared))).toBe(answer);
      const nodes = call.nodes ?? 'ok 0/0';
      if (answer !== 0 && call.breaks !== false) return scene.expectRefused(scene.s1, nodes);
      expect(scene.s1.captureStatus).toBe('active');
      expect(scene.end(scene.s1)).toBe(nodes);
    },
  };
}

function emptyExecutable(scene: Scene) {
  scene.s1.beginCapture();
  return scene.s1.endCapture().instantiateSync();
}
