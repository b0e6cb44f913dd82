import { wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import { toChromeJson } from './chrome-json.js';
import { type Overlap, overlapOf, type SpanSelection } from './overlap.js';
import { timelineSvg } from './timeline-svg.js';
import type {
  CaptureMark,
  HostRange,
  MemorySample,
  TraceContent,
  TraceFlow,
  TraceLosses,
  TraceSpan,
} from './trace-span.js';

/** What ran between `start` and `stop`, in order of the start. */
export class TraceData implements TraceContent {
  readonly spans: readonly TraceSpan[];
  /** Waits between streams. */
  readonly flows: readonly TraceFlow[];
  /** What the threads did that called: `nvtx.range` and calls of this package. */
  readonly ranges: readonly HostRange[];
  readonly captures: readonly CaptureMark[];
  readonly memory: readonly MemorySample[];
  readonly losses: TraceLosses;

  /** Everything but spans may be left out. @throws ArgumentError */
  constructor(content: Partial<TraceContent> & Pick<TraceContent, 'spans'>) {
    checkContent(content);
    this.spans = content.spans;
    this.flows = content.flows ?? [];
    this.ranges = content.ranges ?? [];
    this.captures = content.captures ?? [];
    this.memory = content.memory ?? [];
    this.losses = content.losses ?? { runningAtStop: 0, untracedLaunches: 0, driftNs: 0 };
  }

  /**
   * How long the two ran at the same time.
   * @throws ArgumentError, also for a name that no span and no stream has: it lists those there are
   */
  overlap(a: SpanSelection, b: SpanSelection): Overlap {
    return overlapOf(this.spans, a, b);
  }

  /** Trace Event Format, which Perfetto (ui.perfetto.dev) and `chrome://tracing` open. */
  toChromeJson(): string {
    return toChromeJson(this);
  }

  /** A self-contained picture: one row a stream, time to the right. */
  toSvg(): string {
    return timelineSvg(this);
  }
}

const names: OptionNames<TraceContent> = {
  spans: true,
  flows: true,
  ranges: true,
  captures: true,
  memory: true,
  losses: true,
};

function checkContent(content: Partial<TraceContent>): void {
  const api = 'new TraceData';
  checkOptions(api, 'content', content, names);
  const { spans, flows = [], ranges = [], captures = [], memory = [] } = content;
  for (const [name, list] of Object.entries({ spans, flows, ranges, captures, memory })) {
    if (!Array.isArray(list)) throw wrongKind(api, `content.${name}`, list, 'an array');
  }
}
