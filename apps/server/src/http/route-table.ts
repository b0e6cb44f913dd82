import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    readonly routeTable: RouteTable;
  }
}

/** Which methods each path takes, as the routes themselves say. */
export class RouteTable {
  readonly #methods = new Map<string, Set<string>>();

  /** Watches routes that are added from now on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      const known = this.#methods.get(url) ?? new Set();
      this.#methods.set(url, known);
      for (const one of [method].flat()) known.add(one);
    });
  }

  /** Methods of a path, without HEAD, which comes with GET; empty for a path that no route has. */
  methodsOf(path: string): readonly string[] {
    const exact = this.#methods.get(path);
    const found = exact ?? [...this.#methods].find(([url]) => matches(url, path))?.[1];
    return [...(found ?? [])].filter((method) => method !== 'HEAD');
  }

  /** Every path with each of its methods. */
  *[Symbol.iterator](): Iterator<readonly [path: string, method: string]> {
    for (const [path, methods] of this.#methods) for (const method of methods) yield [path, method];
  }
}

function matches(url: string, path: string): boolean {
  if (!url.includes('/:')) return false;
  const [wanted, given] = [url.split('/'), path.split('/')];
  if (wanted.length !== given.length) return false;
  return wanted.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at]));
}
