import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { altstream, altstreamPiped } from '../makers/altstream.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { altstreamMain } from '../makers/serving.js';

describe('altstream complete', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted();
    server.engine.scripts = [{ text: ' upon a\ttime…\u001b[2J\n' }];
  });
  afterEach(() => server.close());

  const at = () => ['complete', '--base-url', server.url];
  const asked = () => server.context.tokenizer.decode(server.engine.received.at(-1)?.prompt ?? []);

  it('prints the completion of its argument to a pipe as it is, and nothing else', async () => {
    const { code, stdout, stderr } = await altstream(...at(), 'Once');
    expect([code, stdout]).toEqual([0, ' upon a\ttime…\u001b[2J\n']);
    expect(stderr).toMatch(/^\[\d+ tokens, stop\]\n$/);
    expect(asked()).toBe('Once');
    expect(server.engine.received.at(-1)?.parameters).toMatchObject({ maxTokens: 128 });
  });

  it('takes the prompt from its input, line ends and all', async () => {
    const { code, stdout } = await altstreamPiped('two\nlines\n', ...at(), '--echo');
    expect([code, stdout]).toEqual([0, 'two\nlines\n upon a\ttime…\u001b[2J\n']);
    expect(asked()).toBe('two\nlines\n');
  });

  it('passes its flags on', async () => {
    const sampling = ['--max-tokens', '3', '--temperature', '0.5', '--top-p', '0.9', '--seed', '7'];
    const { stdout, stderr } = await altstream(...at(), 'a', ...sampling);
    expect([stdout, stderr]).toEqual([' up', '[3 tokens, length]\n']);
    const { parameters } = server.engine.received.at(-1) ?? {};
    expect(parameters).toMatchObject({ maxTokens: 3, temperature: 0.5, topP: 0.9, seed: 7n });
    expect((await altstream(...at(), 'a', '--stop', 'time', 'x')).stdout).toBe(' upon a\t');
  });

  it('refuses an input that is not UTF-8', async () => {
    const { code, stdout, stderr } = await altstreamPiped(
      Buffer.from('caf\xe9', 'latin1'),
      ...at(),
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/the standard input is not UTF-8 from byte 3 on; convert it/);
    expect(server.engine.received).toHaveLength(0);
  });

  it('says in one sentence what is wrong, by its exit code too', async () => {
    const empty = await altstreamPiped('', ...at());
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringMatching(/there is no prompt/)]);
    const model = await altstream(...at(), 'a', '--model', 'm4');
    expect([model.code, model.stderr]).toEqual([2, expect.stringMatching(/serves m3/)]);
    const away = await altstream('complete', 'a', '--base-url', 'http://127.0.0.1:1');
    expect([away.code, away.stderr]).toEqual([2, expect.stringMatching(/no server answers/)]);
    const error = { name: 'Error', code: 'ENGINE_STEP', message: 'a fault', facts: {} };
    server.engine.scripts = [{ text: 'half', error }];
    const failed = await altstream(...at(), 'a');
    expect([failed.code, failed.stdout]).toEqual([70, 'half']);
    expect(failed.stderr).toMatch(/failed within its answer: a fault/);
  });

  it('stops at Ctrl-C', async () => {
    server.engine.scripts = [{ text: 'again and ', reason: 'never' }];
    const args = [altstreamMain, ...at(), 'a', '--max-tokens', '90000'];
    const child = spawn(process.execPath, args);
    await once(child.stdout, 'data');
    child.stdout.resume();
    child.kill('SIGINT');
    expect((await once(child, 'exit'))[0]).toBe(130);
  });
});
