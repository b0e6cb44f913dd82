import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { probeSync } from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';
import { programs } from './programs/all.js';
import { type PlayedRow, picked, played, saveResults } from './results.js';
import { NotPlayable, Scene } from './scene.js';
import { plays } from './table.js';

const folder = process.env['CONFORMANCE_OUT'];

// The levels of the CPU differ in kernels only, so one is enough here.
for (const report of probeSync()) {
  const { backend } = report;
  if (!report.usable) {
    test(`conformance on ${backend}: ${report.reason}`, ({ skip }) => skip(report.detail));
    continue;
  }
  describe(`conformance on ${backend}`, () => {
    const rows: PlayedRow[] = [];
    let device = '';
    for (const guards of [false, true]) {
      describe(guards ? 'guarded' : 'raw, as CUDA answers', () => {
        let opened: TestRuntime;
        beforeAll(async () => {
          opened = await openTestRuntime({ backend, guards });
          device = opened.device.name;
        });
        afterAll(() => opened.runtime.dispose());
        for (const play of plays(guards)) {
          const label = [play.title, play.case, play.mode].filter((part) => part && part !== '-');
          test(`${play.id}: ${label.join(', ')}`, async ({ skip }) => {
            if (play.why !== '') {
              rows.push(played(play, { why: play.why }));
              return skip(play.why);
            }
            const scene = new Scene(opened, play);
            try {
              await programs[play.id]?.(scene);
            } catch (error) {
              if (!(error instanceof NotPlayable)) throw error;
              rows.push(played(play, { why: error.message }));
              return skip(error.message);
            }
            if (play.isUsable) await scene.putUsable();
            rows.push(played(play, scene));
            expect(picked(play, scene.got)).toEqual(play.expected);
          });
        }
      });
    }
    afterAll(() => {
      const driver = backend === 'cuda' ? (report.driverVersion ?? 0) : manifest.version;
      if (folder !== undefined) saveResults(folder, { backend, device, driver }, rows);
    });
  });
}
