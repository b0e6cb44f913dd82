import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { offAbort, onAbort } from './abort-listeners.js';

test('any number of waits share one listener, and the last leaves none', () => {
  const { signal } = new AbortController();
  const waits = Array.from({ length: 20 }, () => () => undefined);
  for (const wait of waits) onAbort(signal, wait);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const wait of waits) offAbort(signal, wait);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('an abort tells those that still wait, once', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const one = () => {
    told.push('one');
  };
  const two = () => {
    told.push('two');
  };
  onAbort(controller.signal, one);
  onAbort(controller.signal, two);
  offAbort(controller.signal, one);
  controller.abort();
  offAbort(controller.signal, two);
  expect(told).toEqual(['two']);
});
