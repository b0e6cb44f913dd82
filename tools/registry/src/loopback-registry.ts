import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const mostBytes = 1 << 28;

/** A package as npm's registry protocol describes it, reduced to what is used here. */
export interface Packument {
  readonly name: string;
  readonly versions: Record<string, VersionManifest>;
  readonly 'dist-tags': Record<string, string>;
}

/** A published `package.json`. */
export interface VersionManifest {
  readonly name: string;
  readonly version: string;
  dist: { tarball: string; readonly integrity?: string };
  readonly [field: string]: unknown;
}

/** Packages that a registry offers without their having been published to it. */
export interface PackageSource {
  /** `undefined` when there is no such package. `tarball` makes the address of a version. */
  packument(name: string, tarball: (version: string) => string): Packument | undefined;
  tarball(name: string, version: string): Buffer | undefined;
}

interface Publication extends Packument {
  readonly _attachments: Record<string, { readonly data: string }>;
}

/**
 * The smallest npm registry that `publish` and `install` accept: in memory, on loopback, for tests.
 * It forgets everything when it is closed.
 */
export class LoopbackRegistry {
  /** Names and versions in the order in which they were published. */
  readonly published: string[] = [];
  readonly #packuments = new Map<string, Packument>();
  readonly #tarballs = new Map<string, Buffer>();
  readonly #source: PackageSource | undefined;
  readonly #server: Server;

  private constructor(source: PackageSource | undefined) {
    this.#source = source;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) =>
        sendJson(response, 400, { error: String(error) }),
      );
    });
  }

  /** Listens on a free port of 127.0.0.1. `source` offers further packages. */
  static async start(source?: PackageSource): Promise<LoopbackRegistry> {
    const registry = new LoopbackRegistry(source);
    await new Promise<void>((resolve, reject) => {
      registry.#server.once('error', reject);
      registry.#server.listen(0, '127.0.0.1', resolve);
    });
    return registry;
  }

  /** Its address, such as `http://127.0.0.1:40123/`. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  /** The published manifest, as it was sent. */
  manifest(name: string, version: string): VersionManifest | undefined {
    return this.#packuments.get(name)?.versions[version];
  }

  /** The published tarball. */
  tarball(name: string, version: string): Buffer | undefined {
    return this.#tarballs.get(tarballPath(name, version));
  }

  /** Stops listening and drops open connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? '/', this.url).pathname).slice(1);
    if (request.method === 'PUT') {
      return this.#publish(JSON.parse(await bodyOf(request)) as Publication, response);
    }
    const tarball = this.#tarballs.get(path) ?? this.#sourceTarball(path);
    if (tarball) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball);
      return;
    }
    const packument =
      this.#packuments.get(path) ??
      this.#source?.packument(path, (version) => this.url + tarballPath(path, version));
    if (packument) return sendJson(response, 200, packument);
    sendJson(response, 404, { error: 'not found' });
  }

  #sourceTarball(path: string): Buffer | undefined {
    const [, name, version] = /^((?:@[^/]+\/)?[^/]+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
    return name && version ? this.#source?.tarball(name, version) : undefined;
  }

  #publish(body: Publication, response: ServerResponse): void {
    const { name } = body;
    const old = this.#packuments.get(name) ?? { name, versions: {}, 'dist-tags': {} };
    for (const [version, manifest] of Object.entries(body.versions)) {
      if (old.versions[version]) {
        sendJson(response, 409, { error: `cannot publish over ${version}` });
        return;
      }
      const attachment = Object.values(body._attachments)[0];
      if (!attachment) throw new Error(`${name} ${version} came without a tarball`);
      const bytes = Buffer.from(attachment.data, 'base64');
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      if (manifest.dist.integrity !== integrity) {
        throw new Error(`${name} ${version} is ${integrity}, sent as ${manifest.dist.integrity}`);
      }
      this.#tarballs.set(tarballPath(name, version), bytes);
      manifest.dist.tarball = this.url + tarballPath(name, version);
      old.versions[version] = manifest;
      this.published.push(`${name}@${version}`);
    }
    Object.assign(old['dist-tags'], body['dist-tags']);
    this.#packuments.set(name, old);
    sendJson(response, 201, { ok: true });
  }
}

function tarballPath(name: string, version: string): string {
  return `${name}/-/${version}.tgz`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`a publication is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
