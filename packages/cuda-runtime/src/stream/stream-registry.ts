import { wrongKind, wrongRuntime } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type { Device, Runtime, Stream, StreamRegistry } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { describeValue } from '../errors/describe-value.js';
import { notTheObject } from '../errors/not-the-object.js';
import { shorten } from '../errors/short-text.js';
import { notCloneable } from '../threads/not-cloneable.js';
import { NativeStream } from './stream.js';

interface Entry {
  readonly stream: Stream;
  readonly priority: number | undefined;
  /** Stands in while the stream takes part in another capture; made on demand. */
  nested?: Entry;
}

const names: OptionNames<{ device?: Device; priority?: number }> = { device: true, priority: true };

/** Makes a stream that the runtime owns. */
export type MakeStream = (device: Device, name: string, priority: number | undefined) => Stream;

/** The one implementation of `StreamRegistry`. */
export class NamedStreams implements StreamRegistry {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #entries = new Map<string, Entry>();
  readonly #runtime: Runtime;
  readonly #make: MakeStream;

  constructor(runtime: Runtime, make: MakeStream) {
    this.#runtime = runtime;
    this.#make = make;
  }

  get(
    name: string,
    options: { readonly device?: Device; readonly priority?: number } = {},
  ): Stream {
    if (!(#entries in this)) throw notTheObject('streams.get', 'registry of streams');
    checkOptions('streams.get', 'options', options, names);
    const { device = this.#runtime.device(), priority } = options;
    const key = this.#keyOf('streams.get', device, name);
    const known = this.#entries.get(key);
    if (!known) {
      const stream = this.#make(device, name, priority);
      this.#entries.set(key, { stream, priority });
      return stream;
    }
    if (priority !== undefined && priority !== known.priority) {
      throw new ArgumentError({
        api: 'streams.get',
        detail: `stream ${shorten(name)} exists with priority ${known.priority ?? 'by default'}, asked for ${priority}`,
        hint: 'Ask with the same options, or use another name',
      });
    }
    return this.#outsideOtherCaptures(device, name, known).stream;
  }

  set(name: string, stream: Stream): void {
    const api = 'streams.set';
    if (!(#entries in this)) throw notTheObject(api, 'registry of streams');
    if (!(stream instanceof NativeStream)) throw wrongKind(api, 'stream', stream, 'a stream');
    if (stream.device?.runtime !== this.#runtime) throw wrongRuntime(api, 'stream', this.#runtime);
    const key = this.#keyOf(api, stream.device, name);
    this.#entries.set(key, { stream, priority: stream.priority });
  }

  has(name: string, device?: Device): boolean {
    if (!(#entries in this)) throw notTheObject('streams.has', 'registry of streams');
    const of = device === undefined ? this.#runtime.device() : device;
    return this.#entries.has(this.#keyOf('streams.has', of, name));
  }

  names(): readonly string[] {
    if (!(#entries in this)) throw notTheObject('streams.names', 'registry of streams');
    return [...new Set([...this.#entries.keys()].map((key) => key.slice(key.indexOf(':') + 1)))];
  }

  // A capture inside another one gets a stream of its own: that of the outer capture would merge
  // the two. Nested captures are sequential, so that one stream a level of nesting is enough.
  #outsideOtherCaptures(device: Device, name: string, known: Entry): Entry {
    const captureId = this.#runtime.currentStream(device).captureId;
    let entry = known;
    while (captureId !== undefined && isElsewhere(entry.stream, captureId)) {
      const { priority } = entry;
      entry.nested ??= { stream: this.#make(device, name, priority), priority };
      entry = entry.nested;
    }
    return entry;
  }

  #keyOf(api: string, device: Device, name: string): string {
    if (!this.#runtime.devices.includes(device)) {
      const isDevice = Number.isInteger(device?.index);
      if (isDevice) throw wrongRuntime(api, 'device', this.#runtime);
      throw wrongKind(api, 'device', device, 'a device of this runtime');
    }
    if (typeof name === 'string' && name !== '') return `${device.index}:${name}`;
    const given = name === '' ? 'empty' : describeValue(name);
    const detail = `\`name\` is ${given}, expected the role of the stream`;
    throw new ArgumentError({ api, detail });
  }
}

function isElsewhere(stream: Stream, captureId: bigint): boolean {
  const own = stream.isDisposed ? undefined : stream.captureId;
  return own !== undefined && own !== captureId;
}
