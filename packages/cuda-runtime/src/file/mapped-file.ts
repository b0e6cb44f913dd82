/**
 * A file mapped into memory, out of which only the kernel copies: see `docs/files.md` for why the
 * mapping itself is never handed out.
 */

import { wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import { ArgumentError } from '../errors/argument-error.js';
import { describeValue } from '../errors/describe-value.js';
import { DisposedError } from '../errors/disposed-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import { HostBuffer } from '../memory/host-buffer.js';
import { bytesOf, viewBytes } from '../memory/host-copy.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord } from '../native/record.js';
import { notCloneable } from '../threads/not-cloneable.js';

/** Copies to memory that may go away meanwhile pass through buffers of this size. */
const stagingBytes = 8 * 1024 * 1024;

/** Options of `MappedFile.open`. */
export interface MappedFileOptions {
  /** `read` maps nothing: every copy is a pread of the same file. Default: `mapped`. */
  readonly access?: 'mapped' | 'read';
}

/** What is known about an open file. */
export interface FileReport {
  readonly file: string;
  /** Size when it was opened. */
  readonly bytes: number;
  /** Whether copies come out of the mapping or are reads. */
  readonly access: 'mapped' | 'read';
  /** Why copies are reads; absent while they are not. */
  readonly reason?: string;
}

/** Memory of the host that a file's bytes can be copied to. */
export type FileDestination = ArrayBufferView | HostBuffer;

/**
 * A regular file, mapped for reading. A file that is cut, or whose disk fails, gives a `FileError`,
 * never a signal. Where the kernel refuses to map it, or to copy out of the mapping, copies are
 * reads, and `describe()` says so.
 */
export class MappedFile implements Disposable {
  /** Path as it was given. */
  readonly file: string;
  /** Size in bytes when it was opened. */
  readonly bytes: number;
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #record: NativeRecord;
  #copies = 0;
  #isDisposed = false;

  private constructor(file: string, bytes: number, handle: Handle) {
    this.file = file;
    this.bytes = bytes;
    this.#record = new NativeRecord(this, handle, `file ${file}`);
  }

  /**
   * Opens and maps a file, on another thread.
   *
   * @throws FileError `CRT_FILE_OPEN` when it is missing, not readable or no regular file
   * @throws ArgumentError
   */
  static async open(file: string, options: MappedFileOptions = {}): Promise<MappedFile> {
    const isMapped = checkOpen(file, options);
    const { binding, completions } = environment();
    const handle = guarded(() => binding.createFile(file, isMapped));
    try {
      await completions.wait((token) => guarded(() => binding.openFile(handle, token)));
      return new MappedFile(file, infoOf(handle).bytes, handle);
    } catch (error) {
      guarded(() => binding.release(handle));
      throw error;
    }
  }

  /**
   * Fills `destination` with the bytes from `offset` on. The kernel copies, on another thread. A
   * host buffer, or a view of one's memory, is written to directly; other memory could be
   * transferred away meanwhile, so its bytes pass through a buffer of at most 8 MiB and cost one
   * copy more on this thread.
   *
   * @param offset first byte of the file; `offset` + size of `destination` must lie in `bytes`
   * @throws FileError `CRT_FILE_CUT`, `CRT_FILE_READ` with file and byte; `destination` is then
   *   partly filled
   * @throws ArgumentError, DisposedError
   */
  async copy(offset: number, destination: FileDestination): Promise<void> {
    const api = 'file.copy';
    this.checkOpen(api);
    const view = destination instanceof HostBuffer ? hostView(api, destination) : destination;
    const bytes = viewBytes(api, 'destination', view);
    checkRange(api, this, offset, bytes);
    if (bytes === 0) return;
    this.#copies++;
    try {
      const handle = this.#record.use(api);
      const owner = HostBuffer.owning(view.buffer);
      if (owner) await copyDirectly(api, { handle, offset, bytes }, owner, view.byteOffset);
      else await copyStaged(api, { handle, offset, bytes }, view);
    } finally {
      this.#copies--;
      if (this.#isDisposed && this.#copies === 0) this.#record.release();
    }
  }

  /** Whether copies come out of the mapping, and if not, why. @throws DisposedError */
  describe(): FileReport {
    const api = 'file.describe';
    this.checkOpen(api);
    const { reason } = infoOf(this.#record.use(api));
    const { file, bytes } = this;
    if (reason === '') return { file, bytes, access: 'mapped' };
    return { file, bytes, access: 'read', reason };
  }

  /** Copies under way go on; the file is unmapped and closed when the last one is done. */
  dispose(): void {
    if (!(#isDisposed in this)) throw notTheObject('file.dispose', 'file');
    this.#isDisposed = true;
    if (this.#copies === 0) this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal @throws DisposedError, ArgumentError for a proxy */
  checkOpen(api: string): void {
    if (!(#isDisposed in this)) throw notTheObject(api, 'file');
    if (!this.#isDisposed) return;
    throw new DisposedError({
      api,
      detail: `file ${this.file} is disposed`,
      hint: 'Dispose it after its last use; copies under way are not affected',
    });
  }
}

/** A part of an open file. */
interface FileRange {
  readonly handle: Handle;
  readonly offset: number;
  readonly bytes: number;
}

const names: OptionNames<MappedFileOptions> = { access: true };

/** Whether to map the file. */
function checkOpen(file: string, options: MappedFileOptions): boolean {
  const api = 'MappedFile.open';
  if (typeof file !== 'string' || file === '' || file.includes('\0')) {
    throw wrongKind(api, 'file', file, 'the path of a file');
  }
  checkOptions(api, 'options', options, names);
  const { access = 'mapped' } = options;
  if (access !== 'mapped' && access !== 'read') {
    throw wrongKind(api, 'access', access, "'mapped' or 'read'");
  }
  return access === 'mapped';
}

function checkRange(api: string, { file, bytes }: MappedFile, offset: number, count: number): void {
  if (Number.isSafeInteger(offset) && offset >= 0 && offset <= bytes - count) return;
  const detail =
    `\`offset\` is ${describeValue(offset)}, expected 0 … ${bytes - count} ` +
    `for ${count} of the ${bytes} bytes of ${file}`;
  const beyond = `\`destination\` has ${count} bytes, ${file} only ${bytes}`;
  throw new ArgumentError({ api, detail: count > bytes ? beyond : detail });
}

function infoOf(file: Handle): { readonly bytes: number; readonly reason: string } {
  return JSON.parse(guarded(() => environment().binding.fileInfo(file)));
}

function hostView(api: string, host: HostBuffer): Uint8Array {
  host.use(api);
  return new Uint8Array(host.buffer);
}

async function copyDirectly(
  api: string,
  { handle, offset, bytes }: FileRange,
  host: HostBuffer,
  hostOffset: number,
): Promise<void> {
  const to = host.use(api);
  const { binding, completions } = environment();
  await completions.wait((token) =>
    guarded(() => binding.copyFile(handle, offset, bytes, to, hostOffset, token)),
  );
}

async function copyStaged(
  api: string,
  { handle, offset, bytes }: FileRange,
  view: ArrayBufferView,
): Promise<void> {
  const { binding, completions } = environment();
  for (let done = 0; done < bytes; done += stagingBytes) {
    const count = Math.min(stagingBytes, bytes - done);
    let staged = 0;
    await completions.wait((token) => {
      staged = token;
      guarded(() => binding.copyFile(handle, offset + done, count, 0, 0, token));
    });
    let to: Uint8Array | undefined;
    try {
      to = bytesStillThere(api, view, bytes).subarray(done, done + count);
    } finally {
      // Taken in any case: nobody else would free them.
      const taken = to ?? new Uint8Array(count);
      guarded(() => binding.takeStaged(staged, taken));
    }
  }
}

function bytesStillThere(api: string, view: ArrayBufferView, bytes: number): Uint8Array {
  if (viewBytes(api, 'destination', view) === bytes) return bytesOf(view);
  const detail = '`destination` was resized while the copy was under way';
  throw new ArgumentError({ api, detail });
}
