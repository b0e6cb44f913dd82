import { expect, it } from 'vitest';
import { counted } from './counted.js';

it.each([
  [0, '0 devices'],
  [1, '1 device'],
  [2, '2 devices'],
])('%i of a thing are as a person says it', (number, text) => {
  expect(counted(number, 'device')).toBe(text);
});
