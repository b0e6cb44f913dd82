// Requests of all kinds against the demo model: streams and whole answers of mixed lengths,
// structured ones, clients that leave, aborts, deadlines, bodies that are wrong, bursts of more
// than are taken, device calls that fail, and so few pages that answers are preempted and resumed.
// Then nothing may be lost or left behind: each request has exactly one end, in its client's eyes,
// in the log and in the metrics; every finished answer is the one that a server with room gives to
// it alone; all pages are free; handles and descriptors are those of before; memory does not grow;
// and the event loop was never busy for long. Bounded in requests and time, on loopback; ends only
// the servers that it started. Runs the built server, so build it first.
//
//   node --import tsx --conditions=@altstream/source apps/server/bench/soak.bench.ts [--save]

import { availableParallelism } from 'node:os';
import { demoFolder, requireDemoWeights } from '../test/makers/demo-model.js';
import { watchMachine } from './load/machine-load.js';
import { heapBytes, runSoak, type SoakReport } from './load/soak.js';
import { saveRows } from './save-rows.js';

const targets = { loopDelayP99Ms: 20, rssBytesPerRequest: 2048, heapBytesPerRequest: 512 };
const rounds = 10;
const requests = Number(process.env['SOAK_REQUESTS'] ?? 6000);
const burst = 50;
/** What must have happened, or the soak proves nothing. */
const wanted: Readonly<Record<string, number>> = {
  'finished stop': 100,
  'finished length': 100,
  left: 100,
  'failed request_aborted': 20,
  'failed deadline_exceeded': 10,
  'failed invalid_json': 10,
  'failed overloaded': 10,
  'failed internal_error': 5,
};
const wantedPreemptions = 10;

requireDemoWeights();
const machine = watchMachine();
const model = [
  ...['--model', demoFolder, '--device', 'cpu', '--served-model-name', 'soak'],
  ...['--max-model-len', '768'],
];
const limits = [
  ...['--max-num-seqs', '8', '--max-num-queued-reqs', '24', '--max-num-queued-tokens', '99999'],
  ...['--num-gpu-blocks-override', '6'],
];
const report = await runSoak({
  ...{ model, limits },
  requests: Math.ceil(requests / rounds) - burst,
  ...{ rounds, burst, atOnce: 12, seed: 7, mostMs: 20 * 60_000 },
  preload: [new URL('load/faulty-engine.mjs', import.meta.url)],
  env: { FAULTS: '40' },
});
const problems = [...report.problems, ...missing(report), ...beyond(report)];
const row = {
  case: { model: 'minimax-m3-tiny', requests: report.requests, rounds },
  right: problems.length === 0,
  ...{ targets, ...report, flags: [...model, ...limits].slice(2) },
  problems,
  readings: report.readings.map((reading) => ({
    ...{ rssBytes: reading.rssBytes, heapBytes: heapBytes(reading) },
    ...{ descriptors: reading.descriptors, handles: reading.handles.length },
  })),
};
process.stdout.write(`${JSON.stringify({ ...row, problems: problems.length }, null, 1)}\n`);
for (const problem of problems.slice(0, 20)) process.stdout.write(`PROBLEM ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else if (process.argv.includes('--save')) {
  saveRows('soak', [row], { ...machine(report.serverCpuMs), cores: availableParallelism() });
}

function missing({ ends, preemptions }: SoakReport): string[] {
  const seen: Readonly<Record<string, number>> = { ...ends, preemptions };
  return Object.entries({ ...wanted, preemptions: wantedPreemptions }).flatMap(([what, least]) =>
    (seen[what] ?? 0) >= least ? [] : [`${what}: ${seen[what] ?? 0}, and ${least} were wanted`],
  );
}

function beyond({ loopDelayMs, rssBytesPerRequest, heapBytesPerRequest }: SoakReport): string[] {
  const measured = { loopDelayP99Ms: loopDelayMs.p99, rssBytesPerRequest, heapBytesPerRequest };
  return Object.entries(targets).flatMap(([name, most]) => {
    const value = measured[name as keyof typeof targets];
    return value < most ? [] : [`${name} is ${value}, and must be below ${most}`];
  });
}
