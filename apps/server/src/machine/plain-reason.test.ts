import { describe, expect, it } from 'vitest';
import { plainReason } from './plain-reason.js';

const name = 'CUDA_RUNTIME_BINARY';

describe('a reason of a backend is shown', () => {
  it.each([
    ['file://u:SECRET@h/x', 'file://u:SECRET@h/x is not an absolute path'],
    ['//u:SECRET@h/x', "Cannot find module '//u:SECRET@h/x'"],
    ['//u:p SECRET@h/x', "Cannot find module '/u:p SECRET@h/x'"],
    ['//u:SECRET@h/../x', "Cannot find module '/x' beside //u:SECRET@h/../x"],
    ['https://u:SECRET\n@h', 'https://u:SECRET'],
    ['//u:SECRET%40h', '//u:SECRET%40h: cannot open shared object file'],
    ['/plain', 'http://u:SECRET@h and u:SECRET@h are no files'],
  ])('without the login of %j', (value, reason) => {
    const text = plainReason(`${name}: ${reason}`, { [name]: value });
    expect(text).toContain(`${name}: `);
    expect(text).toContain('set, not shown');
    expect(text).not.toContain('SECRET');
  });

  it('as it is where nothing in it is secret', () => {
    const reason =
      "NO_ADDON: /opt/x.node: no such file; Cannot find module '@altstream/cuda-runtime-linux-x64' in /a/.pnpm/b@1.0/c";
    expect(plainReason(reason, { [name]: '/opt/x.node', ALTSTREAM_API_KEY: 'a' })).toBe(reason);
    expect(plainReason(reason, { [name]: '' })).toBe(reason);
  });
});
