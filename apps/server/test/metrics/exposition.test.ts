import { describe, expect, it } from 'vitest';
import { readExposition } from './exposition.js';

const head = '# HELP a b\n# TYPE a counter\n';
const buckets = '# HELP h b\n# TYPE h histogram\n';

describe('the reader of metrics', () => {
  it('reads names with colons, labels with escapes, and special values', () => {
    const text = '# HELP x:y a help\n# TYPE x:y gauge\nx:y{a="q\\"\\\\\\n,",b=""} +Inf\nx:y 1e-3\n';
    expect(readExposition(text).get('x:y')).toEqual({
      type: 'gauge',
      help: 'a help',
      samples: [
        { name: 'x:y', labels: { a: 'q"\\\n,', b: '' }, value: Number.POSITIVE_INFINITY },
        { name: 'x:y', labels: {}, value: 0.001 },
      ],
    });
  });

  it.each([
    ['an end within a line', `${head}a 1`],
    ['a sample of another family', `${head}b 1\n`],
    ['the same sample twice', `${head}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`],
    ['a family twice', `${head}${head}`],
    ['a label without quotes', `${head}a{x=1} 1\n`],
    ['a label twice', `${head}a{x="1",x="2"} 1\n`],
    ['a line break in a label', `${head}a{x="1\n"} 1\n`],
    ['no number', `${head}a one\n`],
    ['no help', '# TYPE a counter\na 1\n'],
    ['an unknown type', '# HELP a b\n# TYPE a thing\na 1\n'],
    ['no last bucket', `${buckets}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`],
    ['buckets that shrink', `${buckets}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_count 1\n`],
    ['a count of its own', `${buckets}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`],
  ])('refuses %s', (_, text) => {
    expect(() => readExposition(text)).toThrow();
  });
});
