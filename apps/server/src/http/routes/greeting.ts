import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../../server-context.js';
import { serverVersion } from '../../version.js';
import { foreignAddress } from '../access/address-check.js';
import { healthOf } from './health.js';

/** The page is text and links. */
const contentSecurityPolicy =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What `GET /` tells. */
interface Greeting {
  readonly message: string;
  readonly status: string;
  /** Only for who may use the server. */
  readonly version?: string;
  readonly models?: readonly string[];
  /** Where to go on, with the path that a proxy has before it. */
  readonly links: Readonly<Record<string, string>>;
}

/**
 * `GET /`: that there is a server, and where its pages and routes are; JSON, or a page for a
 * browser. It is open, as the pages are; what runs here is told to those who may use it.
 */
export function greeting(app: FastifyInstance, context: ServerContext): void {
  const links = linksOf(context.settings);
  app.get('/', { config: { access: 'open' } }, async (request, reply) => {
    const isUser = app.gate.admits(request) && !foreignAddress(request, context.settings);
    const facts: Greeting = {
      message: 'Altstream is running',
      status: healthOf(context).status,
      ...(isUser ? { version: serverVersion, models: context.settings.servedModelNames } : {}),
      links,
    };
    reply.headers({ vary: 'accept, authorization, x-api-key', 'cache-control': 'no-store' });
    if (!wantsPage(request.headers.accept)) return facts;
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentSecurityPolicy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      .send(pageOf(facts));
  });
}

function linksOf({ rootPath, servesUi, servesDocs }: ServerContext['settings']): Greeting['links'] {
  const paths = {
    ...(servesUi ? { ui: '/ui/' } : {}),
    ...(servesDocs ? { docs: '/docs', openapi: '/openapi.json' } : {}),
    models: '/v1/models',
    health: '/health',
    metrics: '/metrics',
  };
  return Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, `${rootPath}${path}`]),
  );
}

/**
 * Browsers want HTML more, or name it first; a client that takes anything gets JSON, and so does
 * one that takes neither.
 */
function wantsPage(accept = '*/*'): boolean {
  const ranges = accept.split(',').map(rangeOf);
  const [page, json] = [weightOf('text/html', ranges), weightOf('application/json', ranges)];
  if (page !== json) return page > json;
  const named = ranges.find(({ type }) => type === 'text/html' || type === 'application/json');
  return page > 0 && named?.type === 'text/html';
}

/** A part of an `accept`. */
interface MediaRange {
  readonly type: string;
  /** Its `q`: how much it is wanted, 0 = not at all. */
  readonly weight: number;
}

function rangeOf(part: string): MediaRange {
  const [type = '', ...parameters] = part.toLowerCase().split(';');
  const [, weight = '1'] = /^\s*q\s*=\s*([\d.]+)\s*$/m.exec(parameters.join('\n')) ?? [];
  return { type: type.trim(), weight: Math.min(1, Number(weight) || 0) };
}

/** That of the narrowest range that has the type in it. */
function weightOf(type: string, ranges: readonly MediaRange[]): number {
  const wider = [type, `${type.split('/')[0]}/*`, '*/*'];
  const found = wider.map((name) => ranges.find((range) => range.type === name));
  return found.find((range) => range !== undefined)?.weight ?? 0;
}

function pageOf({ message, status, version, models, links }: Greeting): string {
  const facts = [
    `Status: ${status}`,
    ...(models === undefined ? [] : [`Models: ${models.join(', ')}`]),
    ...(version === undefined
      ? ['Routes of the API are for who has a key, or is on this machine.']
      : [`Version: ${version}`]),
  ];
  const items = Object.entries(links).map(
    ([name, path]) => `<li><a href="${escaped(path)}">${name}</a></li>`,
  );
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Altstream</title>',
    `<h1>${message}</h1>`,
    ...facts.map((fact) => `<p>${escaped(fact)}</p>`),
    `<ul>${items.join('')}</ul>`,
    '</html>',
    '',
  ].join('\n');
}

/** A name of a model may be anything. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
