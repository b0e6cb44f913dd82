import type { LiveRecord, RecordHolder, Runtime } from '../../src/index.js';

/** A runtime's audit for the message of a test that found something left: a line each record. */
export function auditText(runtime: Runtime, kinds?: readonly string[]): string {
  return runtime
    .audit()
    .filter(({ kind }) => kinds === undefined || kinds.includes(kind))
    .map(lineOf)
    .join('\n');
}

function lineOf({ id, kind, label, bytes, references, holders }: LiveRecord): string {
  const size = bytes === undefined ? '' : `, ${bytes} bytes`;
  const by = holders.map(holderText).join('; ') || 'nobody';
  return `#${id} ${kind} ${label}${size}, ${references} references, held by ${by}`;
}

function holderText(holder: RecordHolder): string {
  const { by, count, ...facts } = holder;
  const told = Object.keys(facts).length > 0 ? ` ${JSON.stringify(facts)}` : '';
  return `${count} × ${by}${told}`;
}
