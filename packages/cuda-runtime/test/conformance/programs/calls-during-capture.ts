import { type Event, open, type Stream, Tensor } from '../../../src/index.js';
import { accumulate, readInts, zeros } from '../../makers/test-kernels.js';
import { kindsOf, type Scene } from '../scene.js';
import { hostFunction } from './graph-parts.js';
import type { Programs } from './program.js';

/** Rows CU, except those about graphs and executables. */
export const callsDuringCapture: Programs = {
  CU01: (s) => synchroniseOrQuery(s, s.s1),
  CU02: (s) => s.during(() => s.test.device.synchronizeSync()),
  CU03: (s) => synchroniseOrQuery(s, s.s3),
  CU04: (s) => synchroniseOrQuery(s, s.legacy),
  async CU05(s) {
    const isRecorded = s.is('query recorded') || s.is('synchronise recorded');
    const event = isRecorded ? s.s3.record() : s.event();
    await s.s3.synchronize();
    s.during(() => ask(event, s.is('query recorded') || s.is('query unrecorded')));
  },
  CU06: (s) => s.during(() => ask(s.s1.record(), s.is('query'))),
  CU07(s) {
    const [first, second] = [s.event(true), s.event(true)];
    s.during(() => {
      s.s1.record(first);
      s.s1.record(second);
      s.elapsed(first, second);
    });
  },
  CU08: (s) =>
    s.during(() => {
      if (s.is('stream')) return s.test.device.createStream().dispose();
      s.s1.record().dispose();
    }),
  CU09(s) {
    const { device } = s.test;
    s.during(() => {
      const memory = s.is('malloc')
        ? device.alloc(256, { stream: s.s1 })
        : device.allocHostSync(256);
      memory.dispose();
    });
  },
  CU11: (s) => s.during(() => s.test.device.alloc(256, { stream: s.s3 }).dispose()),
  async CU15(s) {
    if (s.is('to device, pageable') || s.is('to host, pageable')) return pageable(s);
    const host = s.test.device.allocHostSync(16);
    const tensor = Tensor.allocate(s.test.device, [4], 'i32', { stream: s.s1 });
    s.during(() => (s.is('to device, pinned') ? s.s1.copy(tensor, host) : s.s1.copy(host, tensor)));
  },
  CU16(s) {
    const { device } = s.test;
    s.begin();
    s.put(
      'attribute',
      s.number(() => device.priorityRange),
    );
    s.put(
      'properties',
      s.number(() => device.limits),
    );
    s.put(
      'device',
      s.number(() => s.test.runtime.device(0)),
    );
    s.finish();
  },
  async CU18(s) {
    if (s.is('load library')) return loadBeside(s);
    const { kernels, module } = s.test;
    const y = s.is('first launch')
      ? Tensor.allocate(s.test.device, [1], 'i64', { stream: s.s1 })
      : undefined;
    s.during(() => {
      if (s.is('attributes')) return kernels.add.attributes;
      if (s.is('occupancy')) return kernels.add.occupancy(32);
      if (s.is('get kernel')) return module.kernel('test_add');
      const params = { y: y ?? null, count: 1, grain: 1 };
      return s.s1.launch(kernels.parallel, { grid: [1], block: [1] }, params);
    });
  },
  CU20: (s) => s.during(() => badLaunch(s)),
  CU21(s) {
    const config = { grid: [64], block: [1], cluster: [64] } as const;
    s.during(() => s.s1.launch(s.test.kernels.empty, config, { tag: 0 }));
  },
  CU24(s) {
    const callback = hostFunction(s);
    s.during(() => s.s1.host(callback));
    s.put('kinds', kindsOf(s.graph));
  },
  CU31: (s) => s.during(() => s.s1.priority),
  CU32: (s) => s.during(() => (s.is('id') ? s.s1.id : s.s1.device)),
  CU33: (s) => s.during(() => (s.is('id') ? s.s3.id : s.s3.device)),
  CU34: workElsewhere,
  CK01: (s) =>
    s.put(
      'call',
      s.number(() => badLaunch(s)),
    ),
};

/** Transfers from and to JavaScript's memory. */
async function pageable(s: Scene): Promise<void> {
  const tensor = Tensor.allocate(s.test.device, [4], 'i32', { stream: s.s1 });
  const bytes = new Uint8Array(16);
  s.begin();
  let number: number | string = 0;
  try {
    if (s.is('to device, pageable')) s.s1.write(tensor, bytes);
    else await s.s1.read(tensor, bytes);
  } catch (error) {
    number = s.number(() => {
      throw error;
    });
  }
  s.put('call', number);
  s.finish();
}

/** A package is loaded for another runtime on the device, by a thread of the runtime. */
async function loadBeside(s: Scene): Promise<void> {
  const { backend } = s.test.runtime;
  const other = await open({ backend, isolated: true });
  let loaded: Promise<unknown> | undefined;
  s.begin();
  s.put(
    'call',
    s.number(() => {
      loaded = other.loadModule({ manifest: s.test.module.manifest });
    }),
  );
  await loaded;
  s.finish();
  await other.dispose();
}

function synchroniseOrQuery(s: Scene, stream: Stream): void {
  s.during(() => (s.is('query') ? stream.isIdle() : stream.synchronizeSync()));
}

function ask(event: Event, isQuery: boolean): unknown {
  return isQuery ? event.isDone() : event.waitSync();
}

function badLaunch(s: Scene): void {
  const config = {
    grid: [s.is('grid') ? 0 : 1],
    block: [s.is('threads') ? 2048 : 1],
    sharedBytes: s.is('shared memory') ? 2 ** 30 : 0,
  } as const;
  s.s1.launch(s.test.kernels.empty, config, { tag: 0 });
}

async function workElsewhere(s: Scene): Promise<void> {
  const stream = s.is('legacy kernel') || s.is('legacy fill') ? s.legacy : s.s3;
  const other = s.is('legacy record') || s.is('legacy wait') ? s.legacy : stream;
  const sum = zeros(s.test, stream, 1);
  const host = s.test.device.allocHostSync(4);
  new Int32Array(host.buffer)[0] = 1;
  const event = s.event();
  const calls = s.test.device.allocHostSync(8);
  const callback = s.test.module.callback('test_host_count', { calls, microseconds: 0, step: 1 });
  s.during(() => {
    if (s.is('kernel') || s.is('legacy kernel')) return accumulate(s.test, stream, sum);
    if (s.is('copy')) return stream.copy(sum, host);
    if (s.is('fill') || s.is('legacy fill')) return stream.fill(sum, 1);
    if (s.is('record') || s.is('legacy record')) return other.record(event);
    if (s.is('wait') || s.is('legacy wait')) return other.wait(event);
    return stream.host(callback);
  });
  await other.synchronize();
  const [value] = await readInts(stream, sum);
  const isFilled = s.is('fill') || s.is('legacy fill');
  const isDone =
    new Int32Array(calls.buffer)[0] === 1 ||
    value === (isFilled ? 0x01010101 : 1) ||
    (value === 0 && event.isDone());
  s.put('executed', isDone ? 'yes' : 'no');
}
