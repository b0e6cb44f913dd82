// A text worker whose jobs end when a test says so. The text of a job is
//   `spin`          computes and never ends
//   `render`        the same, and says that it is rendering
//   `until FILE`    ends when that file is there
//   `die`           ends the worker by an error
//   anything else   is done at once
// and its ids are [jobs of this worker so far]. It starts when its `model`, a file, is there.

import { existsSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

const gate = new Int32Array(new SharedArrayBuffer(4));
const thread = Number(basename(readlinkSync('/proc/thread-self')));
let jobs = 0;
const awaitFile = (file) => {
  while (!existsSync(file)) Atomics.wait(gate, 0, 0, 5);
};

if (workerData.model !== '') awaitFile(workerData.model);
parentPort.on('message', ({ id, job }) => {
  jobs += 1;
  const { text } = job;
  const stage = text === 'render' ? 'rendering' : 'tokenizing';
  parentPort.postMessage({ id, stage, thread });
  if (text === 'die') throw new Error('died as it was told');
  while (text === 'spin' || text === 'render');
  if (text.startsWith('until ')) awaitFile(text.slice(6));
  parentPort.postMessage({ id, result: { ids: [jobs], text }, seconds: { tokenize: 0.25 } });
});
