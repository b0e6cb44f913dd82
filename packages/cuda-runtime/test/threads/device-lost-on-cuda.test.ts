import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { onEachBackend } from '../../src/testing/on-each-backend.js';

const program = fileURLToPath(new URL('../fixtures/lose-device.ts', import.meta.url));

onEachBackend((backend) => {
  // On the CPU a device is lost by an injected fault: device-lost.test.ts.
  test.runIf(backend === 'cuda')(
    'CD03, CH03: after an illegal address every call answers 700, nobody waits for ever, and the process ends well',
    async () => {
      const node = ['--import', 'tsx', '--conditions=@altstream/source', program];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, node, {
        timeout: 60_000,
      });
      const refused = ['synchronise', 'query', 'record', 'malloc', 'pinned', 'launch', 'copy'];
      const more = ['read', 'write', 'graph launch', 'instantiate', 'stream', 'synchroniseSync'];
      expect(JSON.parse(stdout)).toEqual({
        ...Object.fromEntries([...refused, ...more].map((name) => [name, 700])),
        told: 'CRT_DEVICE_LOST',
        notified: 0,
        dropped: 1,
        dispose: 'no error',
      });
      expect(stderr).toBe('');
    },
    70_000,
  );
});
