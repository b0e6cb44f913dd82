import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { probeSync } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';
import { programs } from './all-programs.js';
import { type PlayedRow, picked, played, saveResults } from './results.js';
import { endThread, NotPlayable, Scene } from './scene.js';
import { type Play, plays } from './table.js';

// The levels of the CPU differ in kernels only, so one is enough here.
onEachBackend((backend) => {
  const rows: PlayedRow[] = [];
  let device = '';

  afterAll(() => {
    const folder = process.env['CONFORMANCE_OUT'];
    if (folder === undefined) return;
    const cuda = probeSync().find((report) => report.backend === 'cuda');
    const driver = backend === 'cuda' ? (cuda?.driverVersion ?? 0) : manifest.version;
    saveResults(folder, { backend, device, driver }, rows);
  });

  describe.each([
    { guards: false, title: 'raw, as CUDA answers' },
    { guards: true, title: 'guarded' },
  ])('conformance, $title', ({ guards }) => {
    let opened: TestRuntime;
    beforeAll(async () => {
      opened = await openTestRuntime({ backend, guards, isolated: false });
      device = opened.device.name;
    });
    afterAll(async () => {
      await endThread(opened.runtime);
      await opened.runtime.dispose();
    });

    for (const play of plays(guards)) {
      test(titleOf(play), async ({ skip }) => {
        const refuse = (why: string) => {
          rows.push(played(play, { why }));
          skip(why);
        };
        if (play.why !== '') return refuse(play.why);
        const scene = new Scene(opened, play);
        const why = await perform(scene, play);
        if (why !== '') return refuse(why);
        if (play.isUsable) await scene.putUsable();
        rows.push(played(play, scene));
        expect(picked(play, scene.got)).toEqual(play.expected);
      });
    }
  });
});

function titleOf(play: Play): string {
  const parts = [play.title, play.case, play.mode].filter((part) => part !== '' && part !== '-');
  return `${play.id}: ${parts.join(', ')}`;
}

/** Why this machine cannot play it; empty when it did. */
async function perform(scene: Scene, play: Play): Promise<string> {
  try {
    await programs[play.id]?.(scene);
    return '';
  } catch (error) {
    scene.abort();
    if (error instanceof NotPlayable) return error.message;
    throw error;
  }
}
