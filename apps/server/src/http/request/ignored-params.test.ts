import type { FastifyReply } from 'fastify';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseBody } from '../../openai/parse-body.js';
import type { ServerContext } from '../../server-context.js';
import { readFields } from './ignored-fields.js';
import { tellIgnored } from './ignored-params.js';

it('a field that was taken under another name is not told as ignored', () => {
  const shape = { most: z.int() };
  const body = z.preprocess((given) => {
    const { limit, ...rest } = given as { readonly limit?: unknown };
    return { ...rest, most: limit };
  }, z.looseObject(shape));
  const counted: string[] = [];
  const headers: Record<string, unknown> = {};
  const reply = {
    getHeader: () => undefined,
    header: (name: string, value: unknown) => Object.assign(headers, { [name]: value }),
  };
  const context = {
    settings: { debugHeaders: true },
    metrics: { countIgnored: (fields: readonly string[]) => counted.push(...fields) },
  };
  tellIgnored(reply as never as FastifyReply, parseBody(body, { limit: 3, echo: true }) as object, {
    read: readFields(shape),
    context: context as never as ServerContext,
  });
  expect([headers, counted]).toEqual([{ 'x-ignored-params': 'echo' }, ['echo']]);
});
