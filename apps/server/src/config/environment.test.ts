import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from './environment.js';

describe('variables of other tools', () => {
  it.each([
    [{ HF_HUB_CACHE: '/a', HF_HOME: '/b' }, '/a'],
    [{ HF_HOME: '/b', XDG_CACHE_HOME: '/c' }, '/b/hub'],
    [{ XDG_CACHE_HOME: '/c' }, '/c/huggingface/hub'],
    [{ HF_HUB_CACHE: '' }, join(homedir(), '.cache/huggingface/hub')],
  ])('say by %j that downloads of the hub lie in %s', (variables, folder) => {
    expect(readEnvironment(variables).hubCacheFolder).toBe(folder);
  });

  it('name the service in traces', () => {
    expect(readEnvironment({ OTEL_SERVICE_NAME: 'chat' }).serviceName).toBe('chat');
    expect(readEnvironment({ OTEL_SERVICE_NAME: '' }).serviceName).toBe('altstream');
  });

  it.each([
    ['100', 100],
    ['', 2048],
    [undefined, 2048],
    ['none', 2048],
    ['-1', 2048],
    ['1.5', 2048],
  ])('say by %j that %i spans wait at most', (OTEL_BSP_MAX_QUEUE_SIZE, expected) => {
    expect(readEnvironment({ OTEL_BSP_MAX_QUEUE_SIZE }).spanQueueSize).toBe(expected);
  });
});
