import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { QuickHistogram } from './quick-histogram.js';

it('a quick histogram has the text of a slow one', async () => {
  const [quickly, slowly] = [new Registry(), new Registry()];
  const facts = { name: 'gap_seconds', help: 'A gap', buckets: [0.01, 0.1, 1] };
  const labels = { model_name: 'a "model"', engine: '0' };
  const quick = new QuickHistogram({ ...facts, labels }).showIn(quickly);
  const slow = new Histogram({ ...facts, labelNames: Object.keys(labels), registers: [slowly] });
  slow.zero(labels);
  expect(await quickly.metrics()).toBe(await slowly.metrics());
  for (const value of [0.001, 0.01, 0.05, 0.1, 0.7, 1, 3, 60]) {
    quick.observe(value);
    slow.observe(labels, value);
  }
  expect(await quickly.metrics()).toBe(await slowly.metrics());
  quick.showIn(quickly, { name: 'old_gap_seconds', help: 'The same' });
  const text = await quickly.metrics();
  expect(text.split('\n').filter((line) => line.includes('_count'))).toEqual([
    'gap_seconds_count{model_name="a \\"model\\"",engine="0"} 8',
    'old_gap_seconds_count{model_name="a \\"model\\"",engine="0"} 8',
  ]);
});
