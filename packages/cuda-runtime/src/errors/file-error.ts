import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** What a file error knows besides the facts of every error. */
interface FileFacts extends CodedFacts {
  readonly file: string;
  readonly byte?: number;
  readonly errno?: string;
}

/**
 * A file cannot be opened (`CRT_FILE_OPEN`), is shorter than it was (`CRT_FILE_CUT`), or its bytes
 * cannot be read (`CRT_FILE_READ`).
 */
export class FileError extends CudaRuntimeError {
  /** Path as it was given. */
  readonly file: string;
  /**
   * The first byte that is not there, or the one that cannot be read; undefined for
   * `CRT_FILE_OPEN`.
   */
  readonly byte: number | undefined;
  /** The system's name for the error, e.g. `ENOENT`, where it gave one. */
  readonly errno: string | undefined;

  constructor(facts: FileFacts) {
    super({ code: 'CRT_FILE_OPEN', ...facts });
    this.file = facts.file;
    this.byte = facts.byte;
    this.errno = facts.errno;
  }

  static override isInstance(value: unknown): value is FileError {
    return hasMarker(value, 'FileError');
  }
}
