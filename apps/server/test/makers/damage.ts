import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Header = Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;

/** A copy of a checkpoint folder, to be damaged. */
export class DamagedFolder {
  readonly path: string;
  readonly #parent: string;

  constructor(original: string) {
    this.#parent = mkdtempSync(join(tmpdir(), 'altstream-damaged-'));
    this.path = join(this.#parent, 'model');
    cpSync(original, this.path, { recursive: true });
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Changes a JSON file. */
  json(name: string, change: (value: Record<string, unknown>) => void): void {
    const value = JSON.parse(readFileSync(this.file(name), 'utf8')) as Record<string, unknown>;
    change(value);
    writeFileSync(this.file(name), JSON.stringify(value));
  }

  /** Changes the header of the weights, keeping its length field right. */
  header(change: (header: Header) => void): void {
    const path = this.file('model.safetensors');
    const bytes = readFileSync(path);
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString()) as Header;
    change(header);
    const text = Buffer.from(JSON.stringify(header));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(path, Buffer.concat([size, text, bytes.subarray(8 + length)]));
  }

  remove(): void {
    rmSync(this.#parent, { recursive: true, force: true });
  }
}
