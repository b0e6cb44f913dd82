// A text worker whose jobs take as many milliseconds as their text says; ids are [jobs so far].

import { parentPort } from 'node:worker_threads';

let jobs = 0;
parentPort.on('message', ({ id, job }) => {
  jobs += 1;
  const end = Date.now() + Number(job.text);
  while (Date.now() < end);
  parentPort.postMessage({ id, result: { ids: [jobs], text: job.text } });
});
