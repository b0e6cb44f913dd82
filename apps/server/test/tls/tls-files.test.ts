import { generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readTlsFiles, type TlsFlags, warnOfEnd } from '../../src/http/tls/tls-files.js';
import { makeCertificate } from './certificate.js';
import { TlsFolder } from './tls-folder.js';

const folder = new TlsFolder();
afterAll(() => folder.remove());

const own = makeCertificate('own');
const other = makeCertificate('other');
const cert = folder.write('cert.pem', own.cert);
const key = folder.write('key.pem', own.key);
const text = folder.write('text.pem', 'no PEM at all\n');
const locked = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
});

const wrong: readonly [string, TlsFlags, RegExp][] = [
  ['a certificate alone', { sslCertfile: cert }, /--ssl-certfile needs --ssl-keyfile/],
  ['a key alone', { sslKeyfile: key }, /--ssl-keyfile needs --ssl-certfile/],
  ['clients without a certificate of ours', { sslCertReqs: '2' }, /--ssl-cert-reqs is of use with/],
  ['authorities alone', { sslCaCerts: cert }, /--ssl-ca-certs is of use with/],
  [
    'a file that is not there',
    { sslCertfile: folder.path('none.pem'), sslKeyfile: key },
    /--ssl-certfile .*none\.pem cannot be read: there is no such file/,
  ],
  [
    'a folder',
    { sslCertfile: cert, sslKeyfile: folder.path('') },
    /--ssl-keyfile .* cannot be read: EISDIR/,
  ],
  [
    'no certificate',
    { sslCertfile: text, sslKeyfile: key },
    /text\.pem holds no certificate in PEM/,
  ],
  ['no key', { sslCertfile: cert, sslKeyfile: text }, /text\.pem holds no private key in PEM/],
  [
    'a key with a passphrase',
    { sslCertfile: cert, sslKeyfile: folder.write('locked.pem', locked.privateKey) },
    /locked\.pem is encrypted; .*openssl pkey/,
  ],
  [
    'the key of another',
    { sslCertfile: cert, sslKeyfile: folder.write('other.pem', other.key) },
    /other\.pem is not the key of --ssl-certfile .*cert\.pem/,
  ],
  [
    'nobody to check clients against',
    { sslCertfile: cert, sslKeyfile: key, sslCertReqs: '1' },
    /--ssl-cert-reqs 1 needs --ssl-ca-certs/,
  ],
  [
    'authorities that are none',
    { sslCertfile: cert, sslKeyfile: key, sslCaCerts: text },
    /--ssl-ca-certs .*text\.pem holds no certificate/,
  ],
];

describe('the files of TLS', () => {
  it('are read and belong together', () => {
    const files = readTlsFiles({ sslCertfile: cert, sslKeyfile: key, sslCaCerts: cert });
    expect(files).toMatchObject({ cert: own.cert, key: own.key, ca: own.cert, clients: 'any' });
    expect(files?.validTo.getTime()).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    expect(readTlsFiles({ sslCertReqs: '0' })).toBeUndefined();
  });

  it.each(wrong)('are refused: %s', (_, flags, message) => {
    expect(() => readTlsFiles(flags)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringMatching(message) }),
    );
  });

  it('are told when they end', () => {
    const warn = vi.fn();
    const tell = (days: number) =>
      warnOfEnd({ validTo: new Date(Date.now() + days * 86_400_000) }, { warn } as never);
    tell(20);
    expect(warn).not.toHaveBeenCalled();
    tell(3.5);
    expect(warn.mock.lastCall?.[1]).toMatch(/ends in 3 days; SIGHUP/);
    tell(-1);
    expect(warn.mock.lastCall?.[1]).toMatch(/is over/);
  });
});
