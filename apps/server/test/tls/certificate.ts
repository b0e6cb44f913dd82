import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A certificate and its key, both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate that signs others. */
export interface Authority extends Certificate {
  readonly name: string;
  readonly privateKey: KeyObject;
}

/** One element of ASN.1, by its tag and contents. */
function der(tag: number, ...contents: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(contents.map((part) => Buffer.from(part)));
  const { length } = body;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), body]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaSha256 = sequence(identifier('2a8648ce3d040302'));
const nameOf = (common: string): Buffer =>
  sequence(der(0x31, sequence(identifier('550403'), der(0x0c, common))));
const timeOf = (date: Date): Buffer =>
  der(0x17, `${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`);
const extension = (hex: string, value: Buffer): Buffer =>
  sequence(identifier(hex), der(0x04, value));

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, host),
  );
  return extension('551d11', sequence(...names));
}

/**
 * A certificate for hosts, signed by the authority, or by itself; it signs others if `isAuthority`.
 */
export function makeCertificate(
  name: string,
  options: { hosts?: readonly string[]; by?: Authority; days?: number; isAuthority?: boolean } = {},
): Authority {
  const {
    hosts = ['localhost', '127.0.0.1'],
    by,
    days = 30,
    isAuthority = by === undefined,
  } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const basic = isAuthority ? sequence(der(0x01, Buffer.from([255]))) : sequence();
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaSha256,
    nameOf(by?.name ?? name),
    sequence(timeOf(new Date(now - 86_400_000 * 60)), timeOf(new Date(now + days * 86_400_000))),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension('551d13', basic), alternativeNames(hosts))),
  );
  const signature = sign('sha256', signed, by?.privateKey ?? privateKey);
  const whole = sequence(signed, ecdsaSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return {
    name,
    privateKey,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
