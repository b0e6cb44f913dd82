import type { Device, Stream, StreamRegistry } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';

interface Entry {
  readonly stream: Stream;
  readonly priority: number | undefined;
}

/** Makes a stream that the runtime owns. */
export type MakeStream = (device: Device, name: string, priority: number | undefined) => Stream;

/** The one implementation of `StreamRegistry`. */
export class NamedStreams implements StreamRegistry {
  readonly #entries = new Map<string, Entry>();
  readonly #defaultDevice: () => Device;
  readonly #make: MakeStream;

  constructor(defaultDevice: () => Device, make: MakeStream) {
    this.#defaultDevice = defaultDevice;
    this.#make = make;
  }

  get(
    name: string,
    options: { readonly device?: Device; readonly priority?: number } = {},
  ): Stream {
    const { device = this.#defaultDevice(), priority } = options;
    const key = keyOf('streams.get', device, name);
    const known = this.#entries.get(key);
    if (!known) {
      const stream = this.#make(device, name, priority);
      this.#entries.set(key, { stream, priority });
      return stream;
    }
    if (priority !== undefined && priority !== known.priority) {
      throw new ArgumentError({
        api: 'streams.get',
        detail: `stream ${name} exists with priority ${known.priority ?? 'by default'}, asked for ${priority}`,
        hint: 'Ask with the same options, or use another name',
      });
    }
    return known.stream;
  }

  set(name: string, stream: Stream): void {
    const key = keyOf('streams.set', stream.device, name);
    this.#entries.set(key, { stream, priority: stream.priority });
  }

  has(name: string, device: Device = this.#defaultDevice()): boolean {
    return this.#entries.has(keyOf('streams.has', device, name));
  }

  names(): readonly string[] {
    return [...new Set([...this.#entries.keys()].map((key) => key.slice(key.indexOf(':') + 1)))];
  }
}

function keyOf(api: string, device: Device, name: string): string {
  if (typeof name === 'string' && name !== '') return `${device.index}:${name}`;
  throw new ArgumentError({ api, detail: '`name` is empty, expected the role of the stream' });
}
