// Requests of all kinds against the demo model: streams and whole answers of mixed lengths, clients that leave,
// aborts, deadlines, bodies that are wrong, more at once than are taken, and device calls that fail. Then
// nothing may be lost or left behind: each request has exactly one end, in its client's eyes, in the log and
// in the metrics; all pages are free; handles are those of before; memory does not grow; and the event loop was
// never busy for long. Bounded in requests and time, on loopback; ends only the server that it started. Runs the
// built server, so build it first.
//
//   node --import tsx --conditions=@altstream/source apps/server/bench/soak.bench.ts [--save]

import { availableParallelism } from 'node:os';
import { demoFolder, requireDemoWeights } from '../test/makers/demo-model.js';
import { watchMachine } from './load/machine-load.js';
import { runSoak } from './load/soak.js';
import { saveRows } from './save-rows.js';

const targets = { loopDelayP99Ms: 20, rssBytesPerRequest: 8192, heapBytesPerRequest: 2048 };
const requests = Number(process.env['SOAK_REQUESTS'] ?? 2400);
const rounds = 4;

requireDemoWeights();
const machine = watchMachine();
const report = await runSoak({
  flags: [
    ...['--model', demoFolder, '--device', 'cpu', '--served-model-name', 'demo'],
    // Few places and pages, so that requests wait, are refused and are preempted.
    ...['--max-num-seqs', '8', '--max-num-queued-reqs', '16', '--num-gpu-blocks-override', '24'],
    ...['--max-model-len', '1024'],
  ],
  model: 'demo',
  requests: Math.ceil(requests / rounds),
  ...{ rounds, atOnce: 24, seed: 7, mostMs: 25 * 60_000 },
  preload: [new URL('load/faulty-engine.mjs', import.meta.url)],
  env: { FAULTS: '40' },
});
const { problems, readings, loopDelayMs, rssBytesPerRequest, heapBytesPerRequest, ...counts } =
  report;
const right =
  problems.length === 0 &&
  loopDelayMs.p99 < targets.loopDelayP99Ms &&
  rssBytesPerRequest < targets.rssBytesPerRequest &&
  heapBytesPerRequest < targets.heapBytesPerRequest;
const memory = readings.map(({ rssBytes, heapBytes }) => ({ rssBytes, heapBytes }));
const row = {
  case: { model: 'minimax-m3-tiny', requests: report.requests, rounds },
  right,
  ...{ loopDelayMs, rssBytesPerRequest, heapBytesPerRequest, memory, targets, ...counts },
};
process.stdout.write(`${JSON.stringify(row, null, 1)}\n`);
for (const problem of problems.slice(0, 20)) process.stdout.write(`PROBLEM ${problem}\n`);
if (problems.length > 20) process.stdout.write(`and ${problems.length - 20} more\n`);
if (!right) process.exitCode = 1;
else if (process.argv.includes('--save')) {
  saveRows('soak', [row], { ...machine(report.serverCpuMs), cores: availableParallelism() });
}
