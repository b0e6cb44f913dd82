/**
 * Copies out of a file in the page cache, in pieces of 8 MiB: mapped and read, against Node's own
 * reads.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MappedFile } from '../src/index.js';
import { openBench } from './bench-runtime.js';
import { asyncMilliseconds, measure } from './measure.js';
import { type Row, report } from './report.js';

const setup = await openBench('mapped-file');

const pieceBytes = 8 * 2 ** 20;
const pieces = setup.isQuick ? 2 : 32;
const directory = mkdtempSync(join(tmpdir(), 'mapped-file-bench-'));
const path = join(directory, 'file');
const content = Buffer.alloc(pieceBytes, 'what a checkpoint is made of; ');
for (let piece = 0; piece < pieces; piece++) writeFileSync(path, content, { flag: 'a' });

const host = await setup.device.allocHost(pieceBytes);
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
  const copyAll = async () => {
    for (let piece = 0; piece < pieces; piece++) await copy(piece * pieceBytes);
  };
  const runs = setup.isQuick ? 3 : 30;
  const times = await measure(runs, pieces, () => asyncMilliseconds(copyAll));
  rows.push({ case: { what, MiB: 8 }, ...times, right });
}
await node.close();
for (const resource of [mapped, read, host]) resource.dispose();
rmSync(directory, { recursive: true });
await report(setup, rows);
