import { z } from 'zod';
import { serverVersion } from '../version.js';
import { adminSchemas } from './admin-requests.js';
import { chatBody } from './chat-request.js';
import { completionBody } from './completion-request.js';
import { textSchemas } from './text-requests.js';

const bodies: readonly (readonly [path: string, summary: string, schema?: z.ZodType])[] = [
  ['/v1/chat/completions', 'Answer a chat, whole or streamed', chatBody],
  ['/v1/completions', 'Continue a text, whole or streamed', completionBody],
  ['/tokenize', 'Token ids of a text or a chat', textSchemas.tokenize],
  ['/v1/tokenize', 'The same', textSchemas.tokenize],
  ['/detokenize', 'Text of token ids', textSchemas.detokenize],
  ['/v1/detokenize', 'The same', textSchemas.detokenize],
  ['/apply-template', 'A chat as the model gets it', textSchemas.applyTemplate],
  ['/abort_request', 'Operator: end requests', adminSchemas.abort],
  ['/start_profile', 'Operator: record what the device does', adminSchemas.profile],
  ['/stop_profile', 'Operator: end the recording'],
  ['/flush_cache', 'Operator: empty the prefix cache'],
  ['/reset_prefix_cache', 'The same'],
];

const reads: readonly (readonly [path: string, summary: string])[] = [
  ['/', 'That it runs, and where what is'],
  ['/v1/models', 'Served names'],
  ['/v1/models/{id}', 'One of them'],
  ['/v1/loads', 'How busy the engine is'],
  ['/health', 'Ready to serve'],
  ['/readyz', 'The same'],
  ['/startupz', 'The same'],
  ['/ping', 'The same'],
  ['/livez', 'The process and its engine live'],
  ['/health/decode', 'Requests get tokens'],
  ['/metrics', 'Prometheus'],
  ['/version', 'Version of the server'],
  ['/model_info', 'Folders, names, lengths'],
  ['/server_info', 'Everything that was chosen'],
  ['/admin/settings', 'Operator: what was set, and where'],
  ['/admin/requests', 'Operator: requests that are under way'],
  ['/openapi.json', 'This document'],
];

/** Failures, in words for every route. */
const answers = {
  200: { description: 'Success' },
  default: { description: 'OpenAI’s error body: message, type, param, code' },
};

/**
 * The API in OpenAPI's form; shapes of bodies are those that requests are checked against.
 *
 * @param rootPath of a proxy, before every path; empty = none
 */
export function apiDocument(rootPath: string) {
  const posts = bodies.map(([path, summary, schema]) => [
    path,
    { post: { summary, responses: answers, ...(schema ? { requestBody: bodyOf(schema) } : {}) } },
  ]);
  const gets = reads.map(([path, summary]) => [
    path,
    { get: { summary, responses: answers, ...parametersOf(path) } },
  ]);
  return {
    openapi: '3.1.0' as const,
    info: { title: 'Altstream', version: serverVersion },
    ...(rootPath === '' ? {} : { servers: [{ url: rootPath }] }),
    components: { securitySchemes: { key: { type: 'http' as const, scheme: 'bearer' } } },
    security: [{ key: [] }],
    paths: Object.fromEntries([...posts, ...gets]),
  };
}

function bodyOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { required: true, content: { 'application/json': { schema: shape } } };
}

function parametersOf(path: string): Record<string, unknown> {
  const name = /\{(\w+)\}/.exec(path)?.[1];
  if (name === undefined) return {};
  return { parameters: [{ name, in: 'path', required: true, schema: { type: 'string' } }] };
}
