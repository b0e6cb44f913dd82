import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hubSnapshot } from './hub-snapshot.js';

const cache = mkdtempSync(join(tmpdir(), 'hub-'));
afterAll(() => rmSync(cache, { recursive: true }));
const found = (id: string) => hubSnapshot(id, cache);
const commits = ['0'.repeat(40), 'a'.repeat(40)] as const;

function download(name: string, snapshots: readonly string[], main?: string): void {
  const model = join(cache, `models--${name}`);
  for (const snapshot of snapshots)
    mkdirSync(join(model, 'snapshots', snapshot), { recursive: true });
  if (main === undefined) return;
  mkdirSync(join(model, 'refs'), { recursive: true });
  writeFileSync(join(model, 'refs', 'main'), main);
}

describe('a model of the hub', () => {
  it('is the snapshot that main names', () => {
    download('Owner--Two.5', commits, `${commits[1]}\n`);
    expect(found('Owner/Two.5')).toBe(join(cache, 'models--Owner--Two.5/snapshots', commits[1]));
  });

  it('is the only snapshot where nothing is named main, and none of several', () => {
    download('Owner--one', [commits[0]]);
    download('Owner--two', commits);
    expect(found('Owner/one')).toBe(join(cache, 'models--Owner--one/snapshots', commits[0]));
    expect(found('Owner/two')).toBeUndefined();
  });

  it.each(['Owner/none', 'one', '../one', 'Owner/..', '/etc/passwd', 'Owner/one/two', './one', ''])(
    'is not found as %j',
    (id) => expect(found(id)).toBeUndefined(),
  );

  it('is not found where main names what is no commit, or one that is not there', () => {
    download('Owner--path', [], '../../../../etc');
    download('Owner--gone', commits, 'b'.repeat(40));
    expect([found('Owner/path'), found('Owner/gone')]).toEqual([undefined, undefined]);
  });
});
