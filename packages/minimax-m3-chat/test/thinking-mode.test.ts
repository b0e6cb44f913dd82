import { expect, test } from 'vitest';
import { thinkingModeOf } from '../src/index.js';

test.each([
  [{}, undefined],
  [{ reasoningEffort: 'none' }, 'disabled'],
  [{ reasoningEffort: 'low' }, 'enabled'],
  [{ kwargs: { enable_thinking: false }, reasoningEffort: 'high' }, 'disabled'],
  [{ thinking: { type: 'adaptive' }, kwargs: { enable_thinking: true } }, 'adaptive'],
  [{ kwargs: { thinking_mode: 'enabled' }, thinking: { type: 'disabled' } }, 'enabled'],
])('%j asks for thinking mode %s', (request, mode) => {
  expect(thinkingModeOf(request)).toBe(mode);
});
