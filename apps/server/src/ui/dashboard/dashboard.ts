import { byId, element } from '../shell/element.js';
import { numberText, secondsText, shareText } from '../shell/number-text.js';
import { LineChart } from './line-chart.js';
import type { Load } from './load.js';
import { graphShare, type Look, type Readings, readingsOf } from './readings.js';
import { countTable, factTable } from './tables.js';

/** Looks that quantiles are taken over, and points of a chart: two minutes of seconds. */
const mostLooks = 30;
const mostPoints = 120;

/** A chart and where its lines come from. */
interface Panel {
  readonly chart: LineChart;
  readonly lines: readonly ((readings: Readings) => number | undefined)[];
}

/** The numbers of the page. */
export class Dashboard {
  readonly #panels = makePanels();
  readonly #experts = two('Busiest expert by mean', numberText, [
    ['all layers', (now) => now.experts.get('mean')],
    ['worst layer', (now) => now.experts.get('worst')],
  ]);
  #looks: readonly Look[] = [];
  #history: readonly Readings[] = [];

  constructor() {
    byId('charts', HTMLElement).append(...this.#panels.map(({ chart }) => chart.view));
  }

  /** Takes a look and shows everything anew. */
  show(look: Look): void {
    this.#looks = [...this.#looks, look].slice(-mostLooks);
    const readings = readingsOf(this.#looks);
    this.#history = [...this.#history, readings].slice(-mostPoints);
    for (const { chart, lines } of this.#panels) {
      chart.show(lines.map((line) => this.#history.map(line)));
    }
    byId('pages', HTMLElement).replaceChildren(
      countTable('KV pages by state', readings.pages, false),
    );
    byId('refusals', HTMLElement).replaceChildren(
      countTable('Requests without a place', readings.rejections, false),
      countTable('Requests that ended early', readings.aborts, false),
    );
    byId('start', HTMLElement).replaceChildren(
      factTable('Seconds of each phase', Object.fromEntries(readings.start)),
    );
    this.#showExperts(readings);
    const share = graphShare(readings.replays);
    byId('graph-share', HTMLElement).textContent =
      share === undefined
        ? 'No decode step yet.'
        : `${shareText(share)} of decode steps are one graph launch.`;
    byId('graphs', HTMLElement).replaceChildren(
      countTable('Decode steps by graph', namedGraphs(readings), true),
    );
  }

  /** The chart is there from when the server first measures it. */
  #showExperts({ experts }: Readings): void {
    if (experts.size === 0 || this.#panels.includes(this.#experts)) return;
    this.#panels.push(this.#experts);
    byId('charts', HTMLElement).append(this.#experts.chart.view);
  }

  showLoad(load: Load): void {
    byId('loads', HTMLElement).replaceChildren(
      'missing' in load
        ? element('p', { class: 'hint' }, load.missing)
        : factTable('Load', load.facts),
    );
  }
}

function namedGraphs({ replays }: Readings): ReadonlyMap<string, number> {
  return new Map(
    [...replays].map(([bucket, count]) => [
      bucket === 'eager'
        ? 'without a graph'
        : `graph of ${bucket} ${bucket === '1' ? 'row' : 'rows'}`,
      count,
    ]),
  );
}

type Line = readonly [name: string, read: Panel['lines'][number]];

function two(title: string, text: typeof numberText, lines: readonly [Line, Line]): Panel {
  const series = lines.map(([name], at) => ({ name, color: at === 0 ? 0 : 1 }) as const);
  return { chart: new LineChart({ title, text, series }), lines: lines.map(([, read]) => read) };
}

function one(title: string, text: typeof numberText, read: Line[1]): Panel {
  const series = [{ name: 'now', color: 0 }] as const;
  return { chart: new LineChart({ title, text, series }), lines: [read] };
}

function makePanels(): Panel[] {
  return [
    two('Tokens a second', numberText, [
      ['generated', (now) => now.generatedPerSecond],
      ['prompt', (now) => now.promptPerSecond],
    ]),
    two('Time to first token', secondsText, [
      ['half', (now) => now.ttft.p50],
      ['99 %', (now) => now.ttft.p99],
    ]),
    two('Between tokens', secondsText, [
      ['half', (now) => now.itl.p50],
      ['99 %', (now) => now.itl.p99],
    ]),
    two('Requests', numberText, [
      ['running', (now) => now.running],
      ['waiting', (now) => now.waiting],
    ]),
    one('KV cache in use', shareText, (now) => now.cacheShare),
    one('Prefix cache hits', shareText, (now) => now.hitShare),
  ];
}
