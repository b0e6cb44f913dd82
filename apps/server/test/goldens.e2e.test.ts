import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Golden, readGolden } from './makers/golden.js';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { startTestServer, type TestServer } from './makers/test-server.js';

const starts: Readonly<Record<string, readonly string[]>> = {
  'whole prompts, graphs': [],
  'chunks of 50 tokens, graphs': ['--max-num-batched-tokens', '50'],
  'chunks of 50 tokens, eager': ['--max-num-batched-tokens', '50', '--enforce-eager'],
};
const cases = (['T32', 'T128'] as const).flatMap((name) =>
  [false, true].flatMap((mxfp8) =>
    Object.entries(starts).map(([how, args]) => ({ name, mxfp8, how, args })),
  ),
);

/** What the goldens allow in fp32, absolute. */
const tolerance = 1e-4;

function expectNear(actual: number | null | undefined, expected: number): void {
  expect(Math.abs((actual ?? Number.NaN) - expected)).toBeLessThanOrEqual(tolerance);
}

onEachBackend((backend) => {
  describe.each(cases)('$name over HTTP, mxfp8 $mxfp8, $how', ({ name, mxfp8, args }) => {
    const golden: Golden = readGolden(mxfp8 ? `${name}-mxfp8` : name);
    const prompt = [...golden.tokenIds];
    let folder: ModelFolder;
    let server: TestServer;

    beforeAll(async () => {
      folder = await makeModelFolder(name, { mxfp8 });
      server = await startTestServer(folder.path, { backend, args });
    });
    afterAll(async () => {
      await server?.close();
      folder?.remove();
    });

    const continueGreedily = async (more: object) => {
      const answer = await server.client.completions.create({
        model: name,
        prompt,
        temperature: 0,
        max_tokens: golden.greedy.length,
        logprobs: 5,
        ...{ return_tokens_as_token_ids: true, ignore_eos: true },
        ...more,
      });
      const [choice] = answer.choices;
      if (!choice?.logprobs) throw new Error('the answer has no logprobs');
      return choice.logprobs;
    };
    const asText = (ids: readonly number[]): string[] => ids.map((id) => `token_id:${id}`);
    const greedyIds = golden.greedy.map(({ token }) => token);

    it('continues as transformers does, token by token', async () => {
      const { tokens, token_logprobs: logprobs, top_logprobs: top } = await continueGreedily({});
      expect(tokens).toEqual(asText(greedyIds));
      golden.greedy.forEach(({ top5 }, step) => {
        expectNear(logprobs?.[step], top5[0]?.[1] ?? Number.NaN);
        for (const [id, logprob] of top5) expectNear(top?.[step]?.[`token_id:${id}`], logprob);
      });
    });

    it('gives the prompt the log-probabilities that transformers gives it', async () => {
      const { tokens, top_logprobs: top } = await continueGreedily({ echo: true });
      expect(tokens).toEqual(asText([...prompt, ...greedyIds]));
      golden.topIds.forEach((ids, position) => {
        ids.forEach((id, rank) => {
          const expected = golden.topLogprobs[position]?.[rank] ?? Number.NaN;
          expectNear(top?.[position + 1]?.[`token_id:${id}`], expected);
        });
      });
    });

    it('does the same among three other requests of other lengths', async () => {
      const others = [3, 41, 77].map((length) =>
        server.client.completions.create({
          model: name,
          prompt: prompt.slice(0, length),
          temperature: 0,
          max_tokens: 30,
          ...{ ignore_eos: true },
        }),
      );
      const [{ tokens }] = await Promise.all([continueGreedily({}), ...others]);
      expect(tokens).toEqual(asText(greedyIds));
    });

    it('takes the path that was asked for', async () => {
      const eager = await server.metric('altstream_cuda_graph_replays_total{bucket="eager"}');
      if (args.includes('--enforce-eager')) expect(eager).toBeGreaterThan(0);
      else expect(eager).toBe(0);
    });
  });
});
