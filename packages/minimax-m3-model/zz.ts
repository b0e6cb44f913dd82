import { open } from '@altstream/cuda-runtime';
import { MiniMaxM3Model } from './src/index.js';
import { Session } from './test/makers/session.js';
import { hashTokens } from '@altstream/hash-checkpoint';
const runtime = await open({ backend: 'cpu' });
let t = performance.now();
const model = await MiniMaxM3Model.load({ runtime, directory: '/tmp/bench-config-mx', dtype: 'bfloat16' });
console.log('load s', model.report.seconds, 'GB/s', model.report.used.bytes/1e9/model.report.seconds, 'rss MB', process.memoryUsage().rss/1e6);
const s = new Session(model, 8, 1024);
const tokens = hashTokens(512, 4096);
const spans = async (name: string, body: () => Promise<unknown>) => {
  await body();
  runtime.trace.start(); t = performance.now(); await body(); const ms = performance.now()-t; const r = runtime.trace.stop();
  const by = new Map<string, [number, number]>(); let busy = 0;
  for (const p of r.spans) { const e = by.get(p.name) ?? [0,0]; e[0]++; e[1]+= (p.endNs-p.startNs)/1e3; by.set(p.name, e); busy += (p.endNs-p.startNs)/1e3; }
  console.log(name, ms.toFixed(1)+' ms', 'spans', r.spans.length, 'busy us', busy.toFixed(0));
  for (const [n,[c,us]] of [...by].sort((a,b)=>b[1][1]-a[1][1]).slice(0,14)) console.log('   ', n.padEnd(40), String(c).padStart(5), us.toFixed(0).padStart(9));
};
await spans('prefill 512', async () => { s.reset(); await s.run([{ sequence: 0, tokens }]); });
const c1 = await s.capture(1);
console.log('nodes', c1.graph.nodes.length);
await spans('decode 1', () => c1.replay([{ sequence: 0, tokens: [5] }]));
const times: number[] = [];
for (let i=0;i<20;i++){ const a=performance.now(); await c1.replay([{ sequence: 0, tokens: [5] }]); times.push(performance.now()-a);} times.sort((a,b)=>a-b);
console.log('decode ms median', times[10], 'min', times[0]);
process.exit(0);
