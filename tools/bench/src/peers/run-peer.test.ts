import { expect, it } from 'vitest';
import { runPeer } from './run-peer.js';

const node = (script: string) => runPeer(process.execPath, ['-e', script]);

it('takes the last line of what a peer prints', () => {
  const print =
    "console.log('loading'); console.log(JSON.stringify({ status: 'v1', us: { a: 2 } }))";
  expect(node(print)).toEqual({ status: 'v1', us: { a: 2 } });
});

it('says why a peer has no numbers', () => {
  expect(runPeer('no-such-program', [])).toEqual({
    status: expect.stringMatching(/^missing: no-such-program does not start/),
    us: {},
  });
  expect(node("console.error('first'); console.error('last'); process.exit(3)").status).toMatch(
    /^missing: .* ended with 3: last$/,
  );
  expect(node("console.log('hello')").status).toMatch(/printed no JSON last: hello$/);
});
