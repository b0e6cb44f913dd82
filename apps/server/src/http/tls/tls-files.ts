import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { ExitError } from '../../errors/index.js';

/** Flags that name the server's certificate and whose clients it trusts. */
export interface TlsFlags {
  readonly sslCertfile?: string;
  readonly sslKeyfile?: string;
  readonly sslCaCerts?: string;
  /** Python's numbers: 0 asks clients for no certificate, 1 checks one that comes, 2 wants one. */
  readonly sslCertReqs?: '0' | '1' | '2';
}

/** What a TLS server works with, checked. */
export interface TlsFiles {
  /** PEM: the certificate, and those between it and its root. */
  readonly cert: string;
  readonly key: string;
  /** PEM of the authorities whose clients are trusted. */
  readonly ca: string | undefined;
  readonly clients: 'any' | 'checked' | 'known';
  /** When the certificate ends. */
  readonly validTo: Date;
}

const clientsOf = { 0: 'any', 1: 'checked', 2: 'known' } as const;

/**
 * Reads the files that the flags name; undefined without them. @throws ExitError that says which is
 * wrong, and why
 */
export function readTlsFiles(flags: TlsFlags): TlsFiles | undefined {
  const { sslCertfile, sslKeyfile, sslCaCerts } = flags;
  if (sslCertfile === undefined || sslKeyfile === undefined) {
    checkAlone(flags);
    return undefined;
  }
  const { sslCertReqs = '0' } = flags;
  const clients = clientsOf[sslCertReqs];
  if (clients !== 'any' && sslCaCerts === undefined) {
    throw usage(`--ssl-cert-reqs ${sslCertReqs} needs --ssl-ca-certs FILE to check against`);
  }
  const cert = readPem('--ssl-certfile', sslCertfile);
  const key = readPem('--ssl-keyfile', sslKeyfile);
  const ca = sslCaCerts === undefined ? undefined : readPem('--ssl-ca-certs', sslCaCerts);
  const certificate = parseCertificate(`--ssl-certfile ${sslCertfile}`, cert);
  if (ca !== undefined) parseCertificate(`--ssl-ca-certs ${sslCaCerts}`, ca);
  if (!certificate.checkPrivateKey(parseKey(sslKeyfile, key))) {
    throw usage(`--ssl-keyfile ${sslKeyfile} is not the key of --ssl-certfile ${sslCertfile}`);
  }
  checkTogether({ cert, key, ca });
  return { cert, key, ca, clients, validTo: new Date(certificate.validTo) };
}

const dayMs = 86_400_000;
const warnDays = 14;

/** Says so if the certificate is over, or soon will be: clients refuse it from then on. */
export function warnOfEnd({ validTo }: Pick<TlsFiles, 'validTo'>, logger: Logger): void {
  const days = Math.floor((validTo.getTime() - Date.now()) / dayMs);
  if (days > warnDays) return;
  const when = days < 0 ? 'is over' : `ends in ${days} days`;
  logger.warn({ validTo }, `the certificate of --ssl-certfile ${when}; SIGHUP reads a new one`);
}

/** One without the other would be a server without TLS, which nobody meant. */
function checkAlone({ sslCertfile, sslKeyfile, sslCaCerts, sslCertReqs = '0' }: TlsFlags): void {
  if (sslCertfile !== undefined) throw usage('--ssl-certfile needs --ssl-keyfile FILE beside it');
  if (sslKeyfile !== undefined) throw usage('--ssl-keyfile needs --ssl-certfile FILE beside it');
  if (sslCaCerts === undefined && sslCertReqs === '0') return;
  const given = sslCaCerts === undefined ? '--ssl-cert-reqs' : '--ssl-ca-certs';
  throw usage(`${given} is of use with --ssl-certfile and --ssl-keyfile only`);
}

function readPem(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = { ENOENT: 'there is no such file', EACCES: 'it may not be read' }[code ?? ''];
    throw usage(`${flag} ${path} cannot be read: ${why ?? message}`, cause);
  }
}

function parseCertificate(what: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw usage(`${what} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)`, cause);
  }
}

function parseKey(path: string, pem: string): KeyObject {
  if (/ENCRYPTED/.test(pem)) {
    const remedy =
      'write it without a passphrase (openssl pkey -in FILE -out NEW), readable by you';
    throw usage(`--ssl-keyfile ${path} is encrypted; ${remedy}`);
  }
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw usage(`--ssl-keyfile ${path} holds no private key in PEM form`, cause);
  }
}

/** What OpenSSL refuses though each part can be read, such as a key that is too short. */
function checkTogether({ cert, key, ca }: Pick<TlsFiles, 'cert' | 'key' | 'ca'>): void {
  try {
    createSecureContext({ cert, key, ...(ca === undefined ? {} : { ca }) });
  } catch (cause) {
    throw usage(`the files of TLS cannot be used: ${(cause as Error).message}`, cause);
  }
}

function usage(message: string, cause?: unknown): ExitError {
  return new ExitError('usage', message, { cause });
}
