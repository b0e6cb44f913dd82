import { Agent, request } from 'node:http';

/** One stream as its client saw it. */
export interface StreamResult {
  readonly status: number;
  /** Pieces of text, joined. */
  readonly text: string;
  /** By the last chunk. */
  readonly completionTokens: number;
  readonly finishReasons: readonly string[];
  readonly chunks: number;
  /** The closing marker came, and nothing after it. */
  readonly isWhole: boolean;
}

interface Chunk {
  readonly choices: readonly {
    readonly text?: string;
    readonly delta?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly completion_tokens: number } | null;
}

/** Sends all bodies at once, each on a socket of its own, and reads the streams to their ends. */
export async function runStreams(url: string, bodies: readonly object[]): Promise<StreamResult[]> {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  return Promise.all(bodies.map((body) => runStream(url, body, agent)));
}

function runStream(url: string, body: object, agent: Agent): Promise<StreamResult> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (incoming) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('error', reject);
        incoming.on('end', () => {
          resolve(readStream(incoming.statusCode ?? 0, Buffer.concat(pieces).toString()));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(body));
  });
}

/** Taken apart when all is there, so that reading does not compete with the server meanwhile. */
function readStream(status: number, body: string): StreamResult {
  const frames = body.split('\n\n').flatMap((frame) => {
    return frame.startsWith('data: ') ? [frame.slice('data: '.length)] : [];
  });
  const isWhole = frames.at(-1) === '[DONE]';
  const chunks = frames
    .filter((frame) => frame !== '[DONE]')
    .map((frame) => JSON.parse(frame) as Chunk);
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  return {
    status,
    text: choices.map(({ text, delta }) => text ?? delta?.content ?? '').join(''),
    completionTokens: chunks.at(-1)?.usage?.completion_tokens ?? 0,
    finishReasons: choices.flatMap(({ finish_reason: reason }) => (reason ? [reason] : [])),
    chunks: chunks.length,
    isWhole,
  };
}
