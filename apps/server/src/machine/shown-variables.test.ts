import { expect, it } from 'vitest';
import { shownVariables } from './shown-variables.js';

it('variables that tell something are shown, in order, and nothing secret with them', () => {
  const canary = 'c4n4ry';
  const secrets = [
    ...['ALTSTREAM_API_KEY', 'ALTSTREAM_ADMIN_API_KEY', 'ALTSTREAM_API_KEY_FILE', 'HF_TOKEN'],
    ...['OTEL_EXPORTER_OTLP_HEADERS', 'ALTSTREAM_DEFAULT_CHAT_TEMPLATE_KWARGS'],
    ...['ALTSTREAM_MOCK_ENGINE', 'ALTSTREAM_SSL_PASSWORD', 'CUDA_AUTH', 'HF_SECRET'],
  ];
  const others = ['PATH', 'USER', 'AWS_SECRET_ACCESS_KEY', 'MY_ALTSTREAM_PORT', 'HOSTNAME'];
  const hidden = [...secrets, ...others].map((name) => [name, canary] as const);
  const shown = shownVariables(
    {
      ...Object.fromEntries(hidden),
      NODE_OPTIONS: '--max-old-space-size=4096',
      ALTSTREAM_TOKENIZER: '/home/ann/m3',
      ALTSTREAM_MODEL: '/home/anna/m3:/home/ann',
      CUDA_VISIBLE_DEVICES: '1',
      NCCL_DEBUG: undefined,
      HF_ENDPOINT: `https://ann:${canary}@hub.example/x`,
    },
    '/home/ann',
  );
  expect(JSON.stringify(shown)).not.toContain(canary);
  for (const name of secrets) expect([name, shown[name]]).toEqual([name, 'set, not shown']);
  for (const name of [...others, 'NCCL_DEBUG']) expect(shown).not.toHaveProperty(name);
  expect(shown).toMatchObject({
    NODE_OPTIONS: '--max-old-space-size=4096',
    ALTSTREAM_TOKENIZER: '~/m3',
    ALTSTREAM_MODEL: '/home/anna/m3:~',
    CUDA_VISIBLE_DEVICES: '1',
    HF_ENDPOINT: 'https://…@hub.example/x',
  });
  expect(Object.keys(shown)).toEqual(Object.keys(shown).sort());
});
