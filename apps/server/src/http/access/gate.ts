import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../errors/index.js';
import type { HttpSettings } from '../../server-context.js';
import type { Access } from './access.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default `key`. */
    access?: Access;
  }
  interface FastifyInstance {
    gate: Gate;
  }
  interface FastifyRequest {
    /** Stands for the key that came with the request; never the key itself. */
    tenant: string;
  }
}

interface KnownKey {
  readonly digest: Buffer;
  readonly tenant: string;
  readonly isAdmin: boolean;
}

type GateSettings = Pick<HttpSettings, 'apiKeys' | 'adminApiKeys' | 'isExposed'>;

/**
 * Decides by the route that was matched, never by the text of the path; what matched none needs a
 * key.
 */
export class Gate {
  #keys: readonly KnownKey[] = [];
  readonly #isExposed: boolean;

  constructor({ apiKeys, adminApiKeys, isExposed }: GateSettings) {
    this.#isExposed = isExposed;
    this.replaceKeys({ apiKeys, adminApiKeys });
  }

  /** Keys of different clients; an admin key is for those that operate the server. */
  get tenants(): number {
    const clients = this.#keys.filter(({ isAdmin }) => !isAdmin);
    return new Set(clients.map(({ tenant }) => tenant)).size;
  }

  /** From the next request on these keys count. */
  replaceKeys({ apiKeys, adminApiKeys }: Pick<HttpSettings, 'apiKeys' | 'adminApiKeys'>): void {
    this.#keys = [
      ...apiKeys.map((key) => known(key, false)),
      ...adminApiKeys.map((key) => known(key, true)),
    ];
  }

  /** Lets a request pass and names its tenant. @throws ApiError 401 or 403 */
  check(request: FastifyRequest): void {
    const { access = 'key' } = request.routeOptions.config;
    if (access === 'open') return;
    if (this.#keys.length === 0) {
      if (access === 'admin' && this.#isExposed) throw forbidden();
      return;
    }
    const key = this.#find(presented(request));
    if (!key) throw unknownKey();
    request.tenant = key.tenant;
    if (access === 'admin' && !key.isAdmin) throw forbidden();
  }

  /** Whether a request of an open route could use those that want a key. */
  admits(request: FastifyRequest): boolean {
    return this.#keys.length === 0 || this.#find(presented(request)) !== undefined;
  }

  /** Every key is compared, in constant time, so that timing tells nothing. */
  #find(text: string): KnownKey | undefined {
    const given = digest(text);
    const matches = this.#keys.map((key) => timingSafeEqual(key.digest, given));
    // The last of equal keys counts: one that is an admin key, too, is one.
    return this.#keys[matches.lastIndexOf(true)];
  }
}

/** OpenAI's header, or Anthropic's. */
function presented({ headers }: FastifyRequest): string {
  const bearer = /^Bearer\s+(.*)$/i.exec(headers.authorization ?? '')?.[1];
  const { 'x-api-key': single } = headers;
  return bearer ?? (typeof single === 'string' ? single : '');
}

function known(key: string, isAdmin: boolean): KnownKey {
  const bytes = digest(key);
  return { digest: bytes, tenant: bytes.toString('hex').slice(0, 16), isAdmin };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function unknownKey(): ApiError {
  return new ApiError({
    status: 401,
    code: 'invalid_api_key',
    message: 'the API key is missing or wrong; send it as `Authorization: Bearer KEY`',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

function forbidden(): ApiError {
  return new ApiError({
    status: 403,
    code: 'insufficient_permissions',
    message: 'this route needs the admin key; the server takes one with --admin-api-key',
  });
}
