/**
 * From a record to the promise's answer on the event loop, on a stream that has nothing else to do;
 * and the same blocking. Peer: PyTorch's record and `event.synchronize()`, which spins.
 */
import { addOne, count, counters, openBench } from './bench-runtime.js';
import { asyncMilliseconds, measure, milliseconds } from './measure.js';
import { peersOf, pytorch } from './peer-times.js';
import { type Row, report } from './report.js';

const setup = await openBench('event-round-trip');
const { device, stream, isQuick } = setup;
const [runs, trips] = isQuick ? [3, 10] : [40, 100];
const peers = { pytorch: pytorch(setup, 'event', trips) };
const event = device.createEvent();
const y = counters(setup);

const promised = async () => {
  for (let trip = 0; trip < trips; trip += 1) await stream.record(event).done();
};
const promisedKernel = async () => {
  for (let trip = 0; trip < trips; trip += 1) {
    addOne(setup, stream, y);
    await stream.record(event).done();
  }
};
const blocking = () => {
  for (let trip = 0; trip < trips; trip += 1) {
    addOne(setup, stream, y);
    stream.record(event).waitSync();
  }
};
const synchronized = async () => {
  for (let trip = 0; trip < trips; trip += 1) {
    addOne(setup, stream, y);
    await stream.synchronize();
  }
};

await stream.synchronize();
await promised();
const right = (await counts(promisedKernel)) && (await counts(blocking));
const timed = (work: () => Promise<unknown>) => measure(runs, trips, () => asyncMilliseconds(work));
const rows: Row[] = [
  { case: { what: 'record, promise' }, ...(await timed(promised)), right },
  {
    case: { what: 'kernel, record, promise' },
    ...(await timed(promisedKernel)),
    ...peersOf(peers, 'kernel'),
    right,
  },
  {
    case: { what: 'kernel, record, waitSync' },
    ...(await measure(runs, trips, () => milliseconds(blocking))),
    ...peersOf(peers, 'kernel'),
    right,
  },
  { case: { what: 'kernel, synchronize' }, ...(await timed(synchronized)), right },
];
await report(setup, rows, peers);

async function counts(work: () => unknown): Promise<boolean> {
  stream.fill(y, 0);
  await work();
  const isComplete = event.state === 'complete';
  return (await count(setup, y)) === trips && isComplete;
}
