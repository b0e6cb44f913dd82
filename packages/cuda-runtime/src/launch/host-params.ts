import { wrongKind } from '../arguments/faults.js';
import { ArgumentError } from '../errors/argument-error.js';
import { describeValue } from '../errors/describe-value.js';
import { HostBuffer } from '../memory/host-buffer.js';
import { commandLayout } from '../native/binding.js';
import type { CommandBlock } from '../native/command-block.js';
import type { CallbackParams } from './native-callback.js';
import type { ParamsLayout } from './params/params-layout.js';
import { scalarText, writeScalar } from './params/scalar.js';

const api = 'module.callback';

/**
 * Writes the arguments of a host function into the command block.
 * @throws ArgumentError naming the field
 */
export function encodeHostParams(
  block: CommandBlock,
  name: string,
  layout: ParamsLayout,
  params: CallbackParams,
): void {
  checkFields(name, layout, params);
  const { words } = block;
  let count = 0;
  for (const [index, field] of layout.fields.entries()) {
    const value = params[field.name];
    if (field.type !== 'buf' || (value === null && field.optional)) continue;
    if (!(value instanceof HostBuffer)) throw wrongValue(name, field.name, value, 'a host buffer');
    const at = commandLayout.buffers + count * commandLayout.bufferWords;
    words.fill(0, at, at + commandLayout.bufferWords);
    words[at] = value.use(api);
    words[at + 1] = index;
    block.doubles[at / 2 + 2] = value.bytes;
    count += 1;
  }
  words[commandLayout.bufferCount] = count;
  words[commandLayout.paramsBytes] = layout.bytes;
  const base = 4 * (commandLayout.buffers + count * commandLayout.bufferWords);
  words.fill(0, base / 4, base / 4 + Math.ceil(layout.bytes / 4));
  for (const field of layout.fields) {
    if (field.type === 'buf') continue;
    const value = params[field.name];
    const isNumber = typeof value === 'number' || typeof value === 'bigint';
    if (isNumber && writeScalar(block, base + field.offset, field.type, value)) continue;
    throw wrongValue(name, field.name, value, scalarText(field.type));
  }
}

function checkFields(name: string, layout: ParamsLayout, params: CallbackParams): void {
  if (typeof params !== 'object' || params === null) {
    throw wrongKind(api, 'params', params, 'an object with a value for each field');
  }
  const names = layout.fields.map((field) => field.name);
  const given = Object.keys(params);
  if (given.length === names.length && names.every((field) => given.includes(field))) return;
  throw new ArgumentError({
    api,
    detail: `host function ${name} was given ${given.join(', ') || 'nothing'}`,
    hint: `Give every field of ${layout.struct} once: ${names.join(', ')}`,
  });
}

function wrongValue(name: string, field: string, value: unknown, expected: string): ArgumentError {
  const detail = `host function ${name}: \`${field}\` is ${describeValue(value)}, expected ${expected}`;
  return new ArgumentError({ api, detail });
}
