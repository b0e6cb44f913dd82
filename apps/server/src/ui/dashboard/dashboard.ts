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
    const share = graphShare(readings.replays);
    byId('graph-share', HTMLElement).textContent =
      share === undefined
        ? 'No decode step yet.'
        : `${shareText(share)} of decode steps are one graph launch.`;
    byId('graphs', HTMLElement).replaceChildren(
      countTable('Decode steps by graph', namedGraphs(readings), true),
    );
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

function makePanels(): readonly Panel[] {
  const one = (title: string, text: typeof numberText, read: Panel['lines'][number]): Panel => ({
    chart: new LineChart({ title, text, series: [{ name: 'now', color: 0 }] }),
    lines: [read],
  });
  const two = (
    title: string,
    text: typeof numberText,
    lines: readonly [string, Panel['lines'][number], string, Panel['lines'][number]],
  ): Panel => ({
    chart: new LineChart({
      title,
      text,
      series: [
        { name: lines[0], color: 0 },
        { name: lines[2], color: 1 },
      ],
    }),
    lines: [lines[1], lines[3]],
  });
  return [
    two('Tokens a second', numberText, [
      'generated',
      (now) => now.generatedPerSecond,
      'prompt',
      (now) => now.promptPerSecond,
    ]),
    two('Time to first token', secondsText, [
      'half',
      (now) => now.ttft.p50,
      '95 %',
      (now) => now.ttft.p95,
    ]),
    two('Between tokens', secondsText, [
      'half',
      (now) => now.itl.p50,
      '95 %',
      (now) => now.itl.p95,
    ]),
    two('Requests', numberText, ['running', (now) => now.running, 'waiting', (now) => now.waiting]),
    one('KV cache in use', shareText, (now) => now.cacheShare),
    one('Prefix cache hits', shareText, (now) => now.hitShare),
  ];
}
