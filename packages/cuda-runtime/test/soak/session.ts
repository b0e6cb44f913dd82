import type { CaptureMode, GraphExec, GraphNode, HostBuffer, Stream } from '../../src/index.js';
import { Tensor } from '../../src/index.js';
import type { SeededRandom } from '../../src/testing/index.js';
import type { TestRuntime } from '../makers/test-kernels.js';
import { apply, noteHistory, type Slot, type Step, slotsOf, submit } from './step.js';

/** An executable graph and what each launch does. */
export interface Replay {
  /** For the history of a slot. */
  readonly name: string;
  readonly exec: GraphExec;
  /** What a launch does, in order. */
  readonly steps: Step[];
  /** Of a graph that was built node by node: the node of each step. */
  readonly nodes: readonly GraphNode[];
  /** Steps whose node is switched off. */
  readonly disabled: Set<number>;
  /** Calls of `stream.notify` in it. */
  readonly notifications: number;
}

/**
 * One thread's work on one runtime: streams, memory and graphs that come and go, and a model in
 * JavaScript of what every buffer holds. Waits are put in wherever the last user was another
 * stream, so that the model is exact whatever the schedule.
 */
export class Session {
  readonly t: TestRuntime;
  readonly random: SeededRandom;
  readonly streams: Stream[] = [];
  readonly slots: Slot[] = [];
  readonly replays: Replay[] = [];
  readonly hosts: HostBuffer[] = [];
  /** Operations by kind. */
  readonly counts = new Map<string, number>();
  readonly elements: number;
  /**
   * A global capture refuses other threads' waits, so that only a runtime of one thread has some.
   */
  readonly modes: readonly CaptureMode[];
  /** Calls of `notify` that are still to come back, and those that came. */
  expectedNotifications = 0;
  notifications = 0;
  readonly #open: Promise<void>[] = [];

  constructor(t: TestRuntime, random: SeededRandom, isShared: boolean) {
    this.modes = isShared ? ['thread_local', 'relaxed'] : ['thread_local', 'relaxed', 'global'];
    this.t = t;
    this.random = random;
    this.elements = this.pick([1, 16, 100, 1000]);
    for (let index = 0; index < 3; index += 1) this.streams.push(this.createStream());
    for (let index = 0; index < 5; index += 1) this.slots.push(this.createSlot());
    for (let index = 0; index < 2; index += 1) {
      this.hosts.push(t.device.allocHostSync(this.elements * 4));
    }
  }

  get operations(): number {
    let sum = 0;
    for (const count of this.counts.values()) sum += count;
    return sum;
  }

  /** Notes operations of a kind. */
  note(kind: string, count = 1): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + count);
  }

  pick<T>(list: readonly T[]): T {
    const value = list[this.random.integer(0, list.length)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }

  isLikely(probability: number): boolean {
    return this.random.uniform(0, 1) < probability;
  }

  createStream(): Stream {
    this.note('create');
    return this.t.device.createStream({
      name: `soak${this.streams.length}`,
      priority: -this.random.integer(0, 3),
      blocking: this.isLikely(0.2),
    });
  }

  /** Memory with random contents, written from JavaScript. */
  createSlot(): Slot {
    const stream = this.pick(this.streams);
    const tensor = Tensor.allocate(this.t.device, [this.elements], 'i32', { stream });
    const values = this.randomValues();
    stream.write(tensor, values);
    this.note('alloc');
    this.note('write');
    const slot: Slot = { tensor, values, lastUser: stream, history: [] };
    noteHistory(slot, `made on ${this.nameOf(stream)}`);
    return slot;
  }

  randomValues(): Int32Array {
    const first = this.random.integer(0, 1 << 30);
    return Int32Array.from({ length: this.elements }, (_, index) => Math.imul(first, index + 1));
  }

  /** For the history of a slot. */
  nameOf(stream: Stream): string {
    return `${stream.name}#${stream.id}`;
  }

  /** Orders what `stream` does next behind the slot's last use. */
  claim(stream: Stream, slot: Slot): void {
    if (slot.lastUser === stream) return;
    stream.waitStream(slot.lastUser);
    this.note('wait');
    noteHistory(slot, `${this.nameOf(stream)} waits for ${this.nameOf(slot.lastUser)}`);
    slot.lastUser = stream;
  }

  randomStep(): Step {
    const y = this.pick(this.slots);
    const kind = this.pick(['accumulate', 'accumulate', 'set', 'fill', 'copy'] as const);
    if (kind === 'set') return { kind, y, value: this.random.integer(0, 1 << 30) };
    if (kind === 'fill') return { kind, y, byte: this.random.integer(0, 256) };
    const from = this.pick(this.slots);
    if (kind === 'copy' && from !== y) return { kind, y, from };
    const factor = this.pick([1, 3, -5]);
    return { kind: 'accumulate', y, factor, x: this.random.integer(0, 1000) };
  }

  /** Submits a step eagerly. */
  run(step: Step): void {
    const stream = this.pick(this.streams);
    for (const slot of slotsOf(step)) this.claim(stream, slot);
    submit(this.t, stream, step);
    apply(step, `on ${this.nameOf(stream)}`);
    this.note(step.kind === 'accumulate' || step.kind === 'set' ? 'launch' : step.kind);
  }

  launch(replay: Replay): void {
    const stream = this.pick(this.streams);
    for (const step of replay.steps) for (const slot of slotsOf(step)) this.claim(stream, slot);
    replay.exec.launch(stream);
    for (const [index, step] of replay.steps.entries()) {
      const where = `by ${replay.name} on ${this.nameOf(stream)}`;
      if (!replay.disabled.has(index)) apply(step, where);
    }
    this.expectedNotifications += replay.notifications;
    this.note('graph launch');
  }

  /** Reads a slot back and compares it with the model of this moment. */
  verify(slot: Slot): void {
    const stream = this.pick(this.streams);
    this.claim(stream, slot);
    const [expected, actual] = [slot.values.slice(), new Int32Array(this.elements)];
    this.note('read');
    noteHistory(slot, `read on ${this.nameOf(stream)}`);
    const history = [...slot.history];
    this.later(stream.read(slot.tensor, actual).then(() => compare(actual, expected, history)));
  }

  /** Something that must settle well before `settle` returns. */
  later(promise: Promise<unknown>): void {
    const settled = promise.then(() => undefined);
    settled.catch(() => undefined); // reported by `settle`
    this.#open.push(settled);
  }

  /** Waits for what is outstanding. @throws the first failure */
  async settle(): Promise<void> {
    await Promise.all(this.#open.splice(0));
    for (const stream of this.streams) if (stream.pending > 300) await stream.ready(100);
  }
}

/** @throws Error naming the first element that differs and what was done to the slot */
export function compare(
  actual: Int32Array,
  expected: Int32Array,
  history: readonly string[],
): void {
  for (const [index, value] of expected.entries()) {
    if (actual[index] === value) continue;
    const what = `element ${index} of ${expected.length} is ${actual[index]}, expected ${value}`;
    throw new Error(`wrong result: ${what}; what was done:\n  ${history.join('\n  ')}`);
  }
}
