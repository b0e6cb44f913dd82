import { describe, expect, test } from 'vitest';
import { fromCompletion, fromNative } from './from-native.js';
import * as errors from './index.js';
import { suppress } from './suppress.js';

const fault = {
  code: 'CRT_CAPTURE_UNJOINED',
  api: 'stream.endCapture',
  number: 904,
  detail: 'forked work was not joined: alt (last add)',
  hint: 'Let the origin wait for each fork',
  stream: 'main#1',
  captureId: 7n,
};

describe('fromNative', () => {
  test.each([
    ['CRT_ARGUMENT', errors.ArgumentError],
    ['CRT_LAUNCH_CONFIG', errors.LaunchConfigError],
    ['CRT_DISPOSED', errors.DisposedError],
    ['CRT_NOT_OWNER', errors.NotOwnerError],
    ['CRT_BUSY', errors.BusyError],
    ['CRT_BACKEND_MISMATCH', errors.BackendMismatchError],
    ['CRT_WRONG_THREAD', errors.WrongThreadError],
    ['CRT_CAPTURE_UNSUPPORTED', errors.CaptureError],
    ['CRT_CAPTURE_ISOLATION', errors.CaptureError],
    ['CRT_EVENT_STALE', errors.EventStateError],
    ['CRT_GRAPH_EXEC_BROKEN', errors.GraphExecBrokenError],
    ['CRT_GRAPH_INVALID', errors.GraphInstantiateError],
    ['CRT_GRAPH_SINGLE_EXEC', errors.GraphLifetimeError],
    ['CRT_GRAPH_NOT_CLONEABLE', errors.GraphLifetimeError],
    ['CRT_OOM', errors.OutOfMemoryError],
    ['CRT_NO_KERNEL_IMAGE', errors.KernelImageError],
    ['CRT_BAD_KERNEL_IMAGE', errors.KernelImageError],
    ['CRT_NO_SYMBOL', errors.KernelImageError],
    ['CRT_NO_CPU_KERNEL', errors.KernelImageError],
    ['CRT_PARAMS_LAYOUT', errors.KernelImageError],
    ['CRT_DEVICE_LOST', errors.DeviceLostError],
    ['CRT_QUEUE_FULL', errors.QueueFullError],
    ['CRT_IN_CALLBACK', errors.HostCallbackError],
    ['CRT_DEADLOCK', errors.DeadlockError],
    ['CRT_RACE', errors.RaceError],
    ['CRT_UNAVAILABLE', errors.BackendUnavailableError],
  ])('%s becomes its class', (code, kind) => {
    const error = fromNative(Object.assign(new Error(), fault, { code }));
    expect(error).toBeInstanceOf(kind);
    expect(kind.isInstance(error)).toBe(true);
    expect(errors.CudaRuntimeError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code, api: fault.api, stream: 'main#1', captureId: 7n });
  });

  test('a message names call, fact, number, place and remedy', () => {
    const error = fromNative(Object.assign(new Error(), fault));
    expect(String(error)).toBe(
      'CaptureError: stream.endCapture: forked work was not joined: alt (last add) [cudaErrorStreamCaptureUnjoined 904] (stream main#1, capture 7). Let the origin wait for each fork.',
    );
  });

  test('an unknown code is still one of ours, and anything else passes through', () => {
    const unknown = fromNative({ ...fault, code: 'CRT_NEW' });
    expect(unknown).toMatchObject({ name: 'CudaRuntimeError', code: 'CRT_NEW' });
    const foreign = new TypeError('x');
    expect(fromNative(foreign)).toBe(foreign);
  });

  test('a completion carries its capture id as text', () => {
    const error = fromCompletion(JSON.stringify({ ...fault, captureId: '7' }));
    expect(error).toMatchObject({ code: 'CRT_CAPTURE_UNJOINED', captureId: 7n });
  });
});

describe('markers', () => {
  test('a class does not claim its siblings', () => {
    const error = new errors.ArgumentError({ api: 'x', detail: 'y' });
    expect(errors.LaunchConfigError.isInstance(error)).toBe(false);
    expect(errors.ArgumentError.isInstance(new Error('y'))).toBe(false);
  });

  test('an error of another copy of the package is recognised', () => {
    const marker = Symbol.for('altstream.cuda-runtime.ArgumentError');
    expect(errors.ArgumentError.isInstance(Object.assign(new Error(), { [marker]: true }))).toBe(
      true,
    );
  });
});

describe('suppress', () => {
  test('the first error carries the later ones', () => {
    const [first, second] = [new Error('first'), new Error('second')];
    expect(suppress([first, second])).toBe(first);
    expect(first).toHaveProperty('suppressed', [second]);
    expect(suppress(['text', second])).toBe('text');
  });

  const fail = () => {
    throw new Error('of a trap');
  };
  test.each([
    ['frozen', Object.freeze(new RangeError('mine'))],
    ['not extensible', Object.preventExtensions(new RangeError('mine'))],
    ['of ours and frozen', Object.freeze(new errors.ArgumentError({ api: 'a', detail: 'mine' }))],
    [
      'one whose property is a getter',
      Object.defineProperty(new Error(), 'suppressed', { get: fail }),
    ],
    ['one whose setter throws', Object.defineProperty(new Error(), 'suppressed', { set: fail })],
    ['a proxy that throws', new Proxy(new Error(), { set: fail, has: fail, getPrototypeOf: fail })],
  ])('a first error that takes no property is thrown as it is: %s', (_, first) => {
    expect(suppress([first, new Error('second')]) === first).toBe(true);
  });
});
