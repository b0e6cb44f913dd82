import type { Scene } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CB and CT with a second thread. */
export const threads: Programs = {
  CB11: endElsewhere,
  CB12: endElsewhere,
  async CB13(s) {
    const b = await s.newThread();
    await b.ask(s, 'begin', s.s1);
    await b.end();
    s.put('call', s.end());
    s.put('after', s.status());
  },
  async CB14(s) {
    const b = await s.threadB();
    s.begin();
    s.put('call', await b.ask(s, 'begin', s.s1));
    s.finish();
  },
  async CB15(s) {
    const b = await s.threadB();
    s.put(
      'begin',
      s.number(() => s.begin()),
    );
    s.put('begin2', await b.ask(s, 'begin', s.s2));
    s.k();
    await b.ask(s, 'kernel', s.s2);
    s.put('after2', s.status(s.s2));
    s.finish();
    s.put('end2', await b.ask(s, 'end', s.s2));
  },
  CT01: (s) => elsewhere(s, s.case),
  CT02: (s) => elsewhere(s, 'device synchronise'),
  async CT06(s) {
    const b = await s.threadB();
    s.begin();
    s.put('launch', await b.ask(s, 'kernel', s.s1));
    s.put('record', 0);
    s.put('wait', await b.ask(s, 'fork', s.s1, s.s2));
    await b.ask(s, 'kernel', s.s2);
    await b.ask(s, 'fork', s.s2, s.s1);
    s.finish();
  },
};

async function endElsewhere(s: Scene): Promise<void> {
  const b = await s.threadB();
  s.begin();
  s.put('call', await b.ask(s, 'end', s.s1));
  s.finish();
}

async function elsewhere(s: Scene, command: string): Promise<void> {
  const b = await s.threadB();
  s.begin();
  s.put('call', await b.ask(s, command));
  s.finish();
}
