import { expect, it } from 'vitest';
import { runChild } from './run-child.js';
import { runPublisher } from './run-publisher.js';

const options = { cwd: process.cwd(), environment: {}, timeoutMs: 20_000 };

function evaluate(program: string, timeoutMs = options.timeoutMs) {
  return runChild(process.execPath, ['-e', program], { ...options, timeoutMs });
}

it('gives a child the environment that was named and nothing else', async () => {
  const environment = { ONLY: 'this' };
  const args = ['-p', 'JSON.stringify(process.env)'];
  const { code, output } = await runChild(process.execPath, args, { ...options, environment });
  expect({ code, environment: JSON.parse(output) }).toEqual({ code: 0, environment });
});

it('tells the exit code and both outputs', async () => {
  expect(await evaluate("process.stderr.write('no'); process.exitCode = 3")).toEqual({
    code: 3,
    output: 'no',
  });
});

it('ends a child that takes too long, and what it started', async () => {
  // The grandchild holds the output open: only its end lets the promise settle.
  const program = `
    require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'],
      { stdio: 'inherit' });
    setTimeout(() => {}, 60000);`;
  const { code, output } = await evaluate(program, 1500);
  expect(code).toBe(-1);
  expect(output).toContain('ended after 1500 ms');
});

it('runs nothing that could publish to a registry that the guard refuses', async () => {
  await expect(runPublisher('this-command-does-not-exist', [], options)).rejects.toThrow(
    'publish test: npm_config_registry is ""',
  );
});
