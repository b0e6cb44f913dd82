import { describe, expect, it } from 'vitest';
import { ServerError } from '../errors/index.js';
import { safeError } from './safe-error.js';

const mark = 'canary of a client';

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

describe('an error in logs and crash reports (S19)', () => {
  it.each([
    ['JSON', () => JSON.parse(`{"messages": ${mark}}`)],
    ['JSON with quotes', () => JSON.parse(`{"a": "b" "${mark}" "c"}`)],
    ['a property', () => (undefined as never)[mark]],
    ['a regular expression', () => new RegExp(`(${mark}`).test('')],
    ['a URL', () => new URL(mark)],
    ['a thrown text', () => thrownBy(() => mark)],
    ['a cause', () => new Error('outer', { cause: new Error(`inner "${mark}"`) })],
  ])('quotes nothing: %s', (_, action) => {
    expect(JSON.stringify(safeError(thrownBy(action)))).not.toContain(mark);
  });

  it('says what it is and where', () => {
    const shown = safeError(thrownBy(() => (undefined as never)['x']));
    expect(shown).toMatchObject({
      type: 'TypeError',
      message: 'Cannot read properties of undefined (reading …)',
    });
    expect(shown.stack[0]).toMatch(/^at .*safe-error\.test\.ts/);
  });

  it('keeps the words of our own errors, and their codes', () => {
    const error = new ServerError('ENGINE_STEP', 'decoding failed: kernel `rms_norm`: error 700');
    expect(safeError(error)).toMatchObject({ code: 'ENGINE_STEP', message: error.message });
    const slug = new ServerError('invalid_value', `\`stop\`: "${mark}" is wrong`);
    expect(safeError(slug).message).toBe('… is wrong');
  });

  it('ends with causes that go in a circle', () => {
    const error = new Error('around');
    error.cause = error;
    expect(JSON.stringify(safeError(error)).match(/around/g)).toHaveLength(5);
  });
});
