import { describe, expect, test } from 'vitest';
import { hostCommand } from './host-command.js';

describe('a command line of run', () => {
  test('is a name, filters, an output folder and flags with their values', () => {
    const args = ['bench', 'graph', '--backend', 'cpu', '--out', '/tmp/x', 'event', '--save'];
    expect(hostCommand(args, '/tmp/y')).toEqual({
      name: 'bench',
      filters: ['graph', 'event'],
      out: '/tmp/x',
      flags: ['--backend', 'cpu', '--save'],
    });
  });

  test('takes the output folder from the environment, where an empty one is none', () => {
    expect(hostCommand(['test'], '/tmp/y').out).toBe('/tmp/y');
    expect(hostCommand(['test'], '').out).toBeUndefined();
    expect(hostCommand([])).toEqual({ name: 'help', filters: [], out: undefined, flags: [] });
  });

  test('says which flag lacks its value', () => {
    expect(() => hostCommand(['test', '--out'])).toThrow('--out needs a value');
  });
});
