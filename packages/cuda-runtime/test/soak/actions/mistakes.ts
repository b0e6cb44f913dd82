import { CudaRuntimeError } from '../../../src/index.js';
import type { Session } from '../session.js';
import { record } from './captured-graphs.js';

/** A call that must be refused, with the code of the refusal. */
type Mistake = readonly [code: string, run: (s: Session) => unknown];

const config = { grid: [1], block: [1] } as const;

const mistakes: readonly Mistake[] = [
  ['CRT_ARGUMENT', (s) => s.pick(s.streams).fill(s.pick(s.slots).tensor, 300)],
  ['CRT_ARGUMENT', (s) => s.pick(s.streams).write(s.pick(s.slots).tensor, new Uint8Array(3))],
  ['CRT_ARGUMENT', (s) => s.pick(s.streams).launch(s.t.kernels.fill, config, { y: null })],
  ['CRT_ARGUMENT', (s) => s.pick(s.streams).wait({} as never)],
  ['CRT_ARGUMENT', (s) => s.t.device.alloc(-1)],
  ['CRT_ARGUMENT', (s) => s.pick(s.slots).tensor.view([7, 11, 13])],
  ['CRT_OOM', (s) => s.t.device.alloc(2 ** 50)],
  [
    'CRT_LAUNCH_CONFIG',
    (s) => s.pick(s.streams).launch(s.t.kernels.empty, { grid: [0], block: [1] }, { tag: 0 }),
  ],
  ['CRT_CAPTURE_STATE', (s) => s.pick(s.streams).endCapture()],
  ['CRT_CAPTURE_ASYNC', (s) => s.t.device.capture(async () => undefined, onOne(s))],
  ['CRT_CAPTURE_UNSUPPORTED', (s) => s.t.device.capture((given) => given.isIdle(), onOne(s))],
  [
    'CRT_CAPTURE_UNSUPPORTED',
    (s) => s.t.device.capture(() => s.t.device.synchronizeSync(), onOne(s)),
  ],
  [
    'CRT_CAPTURE_ISOLATION',
    (s) => {
      const [a, b] = two(s);
      return s.t.device.capture(() => a.waitStream(b), { stream: a });
    },
  ],
  [
    'CRT_CAPTURE_UNJOINED',
    (s) => {
      const [a, b] = two(s);
      const steps = [s.randomStep(), s.randomStep()];
      return s.t.device.capture(
        () => {
          record(s, [a, b], steps, 1);
          record(s, [b], steps, 0);
        },
        { stream: a },
      );
    },
  ],
  [
    'CRT_CAPTURE_MERGE',
    (s) => {
      const [a, b] = two(s);
      b.beginCapture();
      try {
        return s.t.device.capture(() => a.waitStream(b), { stream: a });
      } finally {
        b.abortCapture();
      }
    },
  ],
  [
    'CRT_EVENT_STALE',
    (s) => {
      const [a, b] = two(s);
      const event = s.t.device.createEvent();
      s.t.device.capture(() => void a.record(event), { stream: a }).dispose();
      try {
        return b.wait(event);
      } finally {
        event.dispose();
      }
    },
  ],
  [
    'CRT_DISPOSED',
    (s) => {
      const buffer = s.t.device.alloc(16);
      buffer.dispose();
      return s.pick(s.streams).fill(buffer, 0);
    },
  ],
  [
    'thrown',
    (s) =>
      s.t.device.capture((stream) => {
        record(s, [stream], [s.randomStep()], 1);
        throw new CudaRuntimeError({ code: 'thrown', api: 'soak', detail: 'on purpose' });
      }, onOne(s)),
  ],
];

/** Makes one, and looks whether it is refused as it should be. */
export function makeMistake(s: Session): void {
  const [code, run] = s.pick(mistakes);
  s.note('refused');
  try {
    run(s);
  } catch (error) {
    if (CudaRuntimeError.isInstance(error) && error.code === code) return;
    throw new Error(`a mistake was refused in another way than with ${code}`, { cause: error });
  }
  throw new Error(`a mistake was not refused with ${code}`);
}

function onOne(s: Session) {
  return { stream: s.pick(s.streams) };
}

function two(s: Session) {
  const a = s.pick(s.streams);
  const b = s.pick(s.streams.filter((stream) => stream !== a));
  return [a, b] as const;
}
