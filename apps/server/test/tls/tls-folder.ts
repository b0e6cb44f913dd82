import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the files of TLS that lives as long as a test. */
export class TlsFolder {
  readonly #path = mkdtempSync(join(tmpdir(), 'altstream-tls-'));

  /** Writes a file. @returns its path */
  write(name: string, text: string): string {
    const path = join(this.#path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Where a file would be. */
  path(name: string): string {
    return join(this.#path, name);
  }

  remove(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }
}
