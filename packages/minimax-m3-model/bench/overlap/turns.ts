// Times graphs in turns, so that a change of clocks or of the machine's load meets all of them.
import { Event, type GraphExec, type Stream } from '@altstream/cuda-runtime';

/** One of the graphs that take turns. */
export interface Contender<Name extends string> {
  readonly name: Name;
  readonly graph: Pick<GraphExec, 'launch'>;
}

/** Microseconds of single replays. */
export interface Times {
  readonly us: number;
  readonly p95Us: number;
  readonly samples: number;
}

/** Replays of one graph in a turn: long enough that its first, untimed, one hides the launches. */
const replaysInTurn = 10;

/**
 * Replays each graph `steps` times, timed one by one by events on the device.
 *
 * @param begin makes the inputs of a turn, the same for each graph
 */
export async function timeInTurns<Name extends string>(
  contenders: readonly Contender<Name>[],
  stream: Stream,
  options: { readonly steps: number; readonly begin: (turn: number) => void },
): Promise<Map<Name, Times>> {
  const replays = Math.min(replaysInTurn, options.steps);
  const events = Array.from({ length: replays + 1 }, () =>
    stream.device.createEvent({ timing: true }),
  );
  const samples = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  const turns = Math.ceil(options.steps / replays);
  for (let turn = 0; turn < turns; turn++) {
    for (let i = 0; i < contenders.length; i++) {
      // Who begins changes from turn to turn.
      const contender = contenders[(turn + i) % contenders.length];
      if (!contender) continue;
      options.begin(turn);
      contender.graph.launch(stream);
      for (const [at, event] of events.entries()) {
        if (at > 0) contender.graph.launch(stream);
        stream.record(event);
      }
      await stream.synchronize();
      const ms = events.slice(1).map((event, at) => Event.elapsedMs(events[at] ?? event, event));
      samples.get(contender.name)?.push(...ms.map((one) => one * 1000));
    }
  }
  for (const event of events) event.dispose();
  return new Map([...samples].map(([name, us]) => [name, timesOf(us)]));
}

function timesOf(samples: readonly number[]): Times {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return { us: at(0.5), p95Us: at(0.95), samples: sorted.length };
}
