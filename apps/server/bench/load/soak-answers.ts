import { SoakClient, type SoakEnd } from './soak-client.js';
import type { SoakRequest } from './soak-requests.js';
import { startWatched } from './watched-server.js';

/**
 * Asks a fresh server, which has room and meets no faults, for every answer that was finished, one
 * after the other: whatever a request met under load, its answer is what it would have been alone.
 */
export async function compareAnswers(
  model: readonly string[],
  { sent, ends }: { sent: readonly SoakRequest[]; ends: readonly SoakEnd[] },
): Promise<{ same: number; problems: string[] }> {
  const finished = new Map(ends.flatMap((end) => (end.kind === 'finished' ? [[end.id, end]] : [])));
  const problems: string[] = [];
  let same = 0;
  const server = await startWatched([...model, '--log-level', 'warn', '--disable-log-requests']);
  const client = new SoakClient(server.url);
  try {
    for (const request of sent) {
      const under = finished.get(request.id);
      if (!under) continue;
      const alone = await client.send({ ...request, headers: {}, behaviour: 'whole' });
      if (alone.reason === under.reason && alone.answer === under.answer) same += 1;
      else problems.push(`${request.id}: ${told(under)} under load, ${told(alone)} alone`);
    }
  } finally {
    client.close();
    await server.stop();
  }
  return { same, problems };
}

function told({ kind, reason, answer, detail }: SoakEnd): string {
  return `${reason ?? kind} ${answer ?? detail}`;
}
