import { randomBytes } from 'node:crypto';

/** A new id of a tool call: `call_` and 24 random hexadecimal characters. */
export function createCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}
