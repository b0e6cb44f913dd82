import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { savedTrace } from '../../bench/pictures/trace-pictures.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { chromeTraceFaults } from '../makers/check-chrome-trace.js';
import { openTestRuntime, spin } from '../makers/test-kernels.js';

const drawn = new URL('../../docs/trace.svg', import.meta.url);

// A bundle for another machine has no docs.
test.skipIf(!existsSync(drawn))('the picture in the docs is what the script draws', () => {
  const picture = readFileSync(drawn, 'utf8');
  expect(`${savedTrace().toSvg()}\n`).toBe(picture);
});

test('the saved trace keeps the rules of Perfetto and shows the overlap', () => {
  const data = savedTrace();
  expect(chromeTraceFaults(data.toChromeJson())).toEqual([]);
  expect(data.overlap('main', 'alt').fraction).toBeGreaterThan(0.5);
});

// Without a parser of XML: what a document can hold (XML 1.0, 2.2).
const legalXml = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

onEachBackend((backend) => {
  test('names with control characters do not break a picture', async () => {
    const t = await openTestRuntime({ backend });
    const stream = t.device.createStream({ name: 'a\u0000b\u001b[31m<&"\u0007' });
    t.runtime.trace.start();
    const graph = t.device.capture(() => void spin(t, stream, 1), { stream });
    const exec = graph.instantiateSync();
    exec.launch(stream);
    await stream.synchronize();
    const data = t.runtime.trace.stop();
    for (const picture of [data.toSvg(), graph.toSvg(), graph.toDot()]) {
      expect(picture).toMatch(legalXml);
      expect(picture).toContain('a␀b␛[31m&lt;&amp;&quot;␇');
    }
    expect(data.spans[0]?.stream).toBe(`${stream.name}#${stream.id}`);
    await t.runtime.dispose();
  });
});
