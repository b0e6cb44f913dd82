/** Copies out of a file in the page cache, in pieces of 8 MiB: mapped and read, against Node's own reads. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MappedFile, open } from '../src/index.js';
import { measure, type Row, report } from './measure.js';

const pieceBytes = 8 * 2 ** 20;
const pieces = 32;
const directory = mkdtempSync(join(tmpdir(), 'mapped-file-bench-'));
const path = join(directory, 'file');
const content = Buffer.alloc(pieceBytes, 'what a checkpoint is made of; ');
for (let piece = 0; piece < pieces; piece++) writeFileSync(path, content, { flag: 'a' });

const runtime = await open({ backend: 'cpu' });
const host = await runtime.device().allocHost(pieceBytes);
const view = Buffer.allocUnsafeSlow(pieceBytes);
const mapped = await MappedFile.open(path);
const read = await MappedFile.open(path, { access: 'read' });
const node = await openFile(path);

type Copy = (position: number) => Promise<unknown>;
const copies: readonly [string, Uint8Array, Copy][] = [
  ['mapped, to a host buffer', new Uint8Array(host.buffer), (at) => mapped.copy(at, host)],
  ['mapped, to a view', view, (at) => mapped.copy(at, view)],
  ['read, to a host buffer', new Uint8Array(host.buffer), (at) => read.copy(at, host)],
  ['read, to a view', view, (at) => read.copy(at, view)],
  ['FileHandle.read of Node', view, (at) => node.read(view, 0, pieceBytes, at)],
];

const rows: Row[] = [];
for (const [what, bytes, copy] of copies) {
  bytes.fill(0);
  await copy(pieceBytes);
  const right = Buffer.compare(bytes, content) === 0;
  const times = await measure(30, pieces, async () => {
    const begin = performance.now();
    for (let piece = 0; piece < pieces; piece++) await copy(piece * pieceBytes);
    return performance.now() - begin;
  });
  rows.push({ case: { what, MiB: 8 }, ...times, right });
}
report('mapped-file', rows);
await node.close();
for (const resource of [mapped, read, host]) resource.dispose();
await runtime.dispose();
rmSync(directory, { recursive: true });
