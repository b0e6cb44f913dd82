import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { fixedFlags } from './fixed-flags.js';
import { flagAliases, isAlias } from './flag-aliases.js';
import { addServeFlags } from './serve-flags.js';

function parse(...args: readonly string[]): Record<string, unknown> {
  const command = addServeFlags(new Command('serve')).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

const docs = readFileSync(new URL('../../docs/flags.md', import.meta.url), 'utf8');
const options = addServeFlags(new Command('serve')).options;
const active = flagAliases.filter(({ flag }) => options.some(({ long }) => long === flag));

/** A value that the flag takes, for those that take one. */
const values: Readonly<Record<string, string>> = {
  '--model': 'a/b',
  '--tokenizer': 'a/b',
  '--tensor-parallel-size': '1',
  '--gpu-memory-utilization': '0.5',
  '--scheduling-policy': 'priority',
  '--root-path': '/api/m3',
};

describe('the aliases of flags', () => {
  it.each(active)('$alias sets what $flag sets', ({ alias, flag, parse: own, warning }) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const option = options.find(({ long }) => long === flag);
    const takesValue = option?.required === true;
    const value = takesValue ? [values[flag] ?? '7'] : [];
    const through = parse(alias, ...value);
    expect(said).toHaveBeenCalledTimes(warning === undefined ? 0 : 1);
    said.mockRestore();
    if (own) return;
    expect(through).toEqual(parse(flag, ...value));
    expect(through).not.toEqual(parse());
    expect(takesValue ? parse(`${alias}=${value[0]}`) : through).toEqual(through);
  });

  it('make the list of graphs of their largest', () => {
    expect(parse('--cuda-graph-max-bs', '8')).toMatchObject({ cudaGraphSizes: [1, 2, 4, 8] });
    expect(() => parse('--cuda-graph-max-bs', '8,9')).toThrow(/one number/);
  });

  it('refuse what the flag refuses', () => {
    expect(() => parse('--max-running-requests', '0')).toThrow(/--max-running-requests/);
  });

  it('are not in the help, but in docs/flags.md', () => {
    for (const { alias, flag } of active) {
      const row = docs.split('\n').find((line) => line.includes(`\`${alias}\``)) ?? `no ${alias}`;
      expect(row).toContain(`\`${flag}\``);
    }
    expect(options.filter(isAlias).every(({ hidden }) => hidden)).toBe(true);
  });
});

describe('flags with one value', () => {
  it.each(fixedFlags)('$flags is accepted with that value only', ({ flags, only }) => {
    const [name = ''] = flags.split(' ');
    expect(docs).toContain(`\`${name}`);
    if (only === undefined) return void expect(() => parse(name)).not.toThrow();
    for (const spelling of only) expect(() => parse(name, spelling)).not.toThrow();
    expect(() => parse(name, '9')).toThrow(new RegExp(`knows ${only[0]} only`));
  });
});
