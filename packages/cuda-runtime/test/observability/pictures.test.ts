import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { savedTrace } from '../../bench/pictures/trace-pictures.js';
import { chromeTraceFaults } from '../makers/check-chrome-trace.js';

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
