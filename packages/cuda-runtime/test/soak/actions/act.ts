import { type DeviceBuffer, Event, OutOfMemoryError } from '../../../src/index.js';
import { compare, type Session } from '../session.js';
import { noteHistory, slotsOf } from '../step.js';
import { captureReplay, retireReplay } from './captured-graphs.js';
import { buildReplay, updateReplay } from './explicit-graphs.js';
import { makeMistake } from './mistakes.js';

/** One thing that a session does; a promise is waited for. */
export type Action = (session: Session) => void | Promise<void>;

/** Thrown on purpose, where nobody can catch it but the process. */
export class PlannedError extends Error {}

// Weights: how often each is drawn.
const weighted: readonly (readonly [weight: number, action: Action])[] = [
  [60, (s) => s.run(s.randomStep())],
  [25, launchAgain],
  [12, rewrite],
  [10, (s) => s.verify(s.pick(s.slots))],
  [6, throughHostMemory],
  [6, eventsOnPurpose],
  [6, makeMistake],
  [5, notify],
  [4, replaceSlot],
  [3, captureReplay],
  [2, retireReplay],
  [2, buildReplay],
  [3, updateReplay],
  [2, waits],
  [1, timing],
  [1, replaceStream],
  [1, forget],
  [1, exhaust],
  [1, audit],
];

const total = weighted.reduce((sum, [weight]) => sum + weight, 0);

/** Does one random thing. */
export async function act(session: Session): Promise<void> {
  let at = session.random.integer(0, total);
  for (const [weight, action] of weighted) {
    at -= weight;
    if (at >= 0) continue;
    await action(session);
    return;
  }
}

function launchAgain(s: Session): void {
  if (s.replays.length > 0) s.launch(s.pick(s.replays));
}

// The bytes are taken before `write` returns.
function rewrite(s: Session): void {
  const [slot, stream, data] = [s.pick(s.slots), s.pick(s.streams), s.randomValues()];
  s.claim(stream, slot);
  stream.write(slot.tensor, data);
  slot.values.set(data);
  noteHistory(slot, `write on ${s.nameOf(stream)}`);
  data.fill(-1);
  s.note('write');
}

async function throughHostMemory(s: Session): Promise<void> {
  const [slot, stream, host] = [s.pick(s.slots), s.pick(s.streams), s.pick(s.hosts)];
  s.claim(stream, slot);
  stream.copy(host, slot.tensor);
  const expected = slot.values.slice();
  const there = stream.record();
  s.note('copy');
  s.note('record');
  await there.done();
  noteHistory(slot, `copied to the host on ${s.nameOf(stream)}`);
  compare(new Int32Array(host.buffer), expected, slot.history);
  const data = s.randomValues();
  new Int32Array(host.buffer).set(data);
  stream.copy(slot.tensor, host);
  slot.values.set(data);
  noteHistory(slot, `copied from the host on ${s.nameOf(stream)}`);
  await stream.synchronize();
  there.dispose();
  if (!s.isLikely(0.2)) return;
  s.hosts.splice(s.hosts.indexOf(host), 1, s.t.device.allocHostSync(s.elements * 4));
  host.dispose();
  s.note('alloc');
}

// An event instead of `waitStream`, recorded anew or disposed while somebody waits for it.
function eventsOnPurpose(s: Session): void {
  const [from, to, event] = [s.pick(s.streams), s.pick(s.streams), s.t.device.createEvent()];
  from.record(event);
  to.wait(event);
  if (s.isLikely(0.5)) to.record(event);
  if (s.isLikely(0.5)) s.later(event.done().then(() => event.dispose()));
  else event.dispose();
  s.note('record');
  s.note('wait');
}

function notify(s: Session): void {
  const isFailing = s.isLikely(0.02);
  s.expectedNotifications += 1;
  s.pick(s.streams).notify(() => {
    s.notifications += 1;
    if (isFailing) throw new PlannedError('a callback of the soak throws');
  });
  s.note('notify');
}

// The session's streams are listed as this thread's, whatever other threads begin and end
// meanwhile.
function audit(s: Session): void {
  const own = s.t.runtime
    .audit()
    .filter(({ holders }) => holders.some((one) => one.by === 'handle' && one.isOwn && one.object));
  const labels = new Set(own.map(({ label }) => label));
  const missing = s.streams
    .map(({ name, id }) => `${name || 'stream'}#${id}`)
    .filter((label) => !labels.has(label));
  if (missing.length > 0) throw new Error(`an audit lacks ${missing.join(', ')}`);
  s.note('audit');
}

// The memory goes while work on it is pending, and stays for the graphs that use it.
function replaceSlot(s: Session): void {
  const slot = s.pick(s.slots);
  s.slots.splice(s.slots.indexOf(slot), 1, s.createSlot());
  if (s.isLikely(0.9)) slot.tensor.dispose();
  s.note('free');
}

async function waits(s: Session): Promise<void> {
  const stream = s.pick(s.streams);
  const abort = new AbortController();
  const given = stream.synchronize({ signal: abort.signal });
  abort.abort();
  const error: unknown = await given.catch((thrown: unknown) => thrown);
  if (error !== undefined && !(error instanceof DOMException)) throw error;
  const how = s.pick(['device', 'blocking', 'stream', 'stream'] as const);
  if (how === 'device') await s.t.device.synchronize();
  else if (how === 'blocking') stream.synchronizeSync();
  else await stream.synchronize();
  s.note('synchronize', 2);
}

async function timing(s: Session): Promise<void> {
  const stream = s.pick(s.streams);
  const [start, end] = [true, true].map((timed) => s.t.device.createEvent({ timing: timed }));
  if (!start || !end) throw new Error('no events');
  stream.record(start);
  s.run(s.randomStep());
  stream.record(end);
  await end.done();
  if (!(Event.elapsedMs(start, end) >= 0)) throw new Error('time ran backwards');
  s.note('record', 2);
  for (const event of [start, end]) event.dispose();
}

// The stream goes with work pending; whoever comes after it waits for its successor.
function replaceStream(s: Session): void {
  const old = s.pick(s.streams);
  const fresh = s.createStream();
  fresh.waitStream(old);
  const used = s.replays.flatMap(({ steps }) => steps.flatMap(slotsOf));
  for (const slot of [...s.slots, ...used]) if (slot.lastUser === old) slot.lastUser = fresh;
  s.streams.splice(s.streams.indexOf(old), 1, fresh);
  old.dispose();
}

// As much as there is, where memory is limited.
function exhaust(s: Session): void {
  const taken: DeviceBuffer[] = [];
  try {
    for (let index = 0; index < 40; index += 1) taken.push(s.t.device.alloc(1 << 18));
  } catch (error) {
    if (!OutOfMemoryError.isInstance(error)) throw error;
    s.note('out of memory');
  }
  s.note('alloc', taken.length);
  for (const buffer of taken) buffer.dispose();
}

// Left to the collector.
function forget(s: Session): void {
  const stream = s.pick(s.streams);
  stream.fill(s.t.device.alloc(64, { stream }), 1);
  stream.record();
  s.t.device.capture((given) => void given.record(), { stream });
  s.note('forget', 3);
  if (s.isLikely(0.3)) globalThis.gc?.();
}
