import { drawing, element } from '../shell/element.js';

/** A line of a chart. */
export interface Series {
  readonly name: string;
  readonly color: 0 | 1;
}

/** What a chart shows. */
export interface ChartOptions {
  readonly title: string;
  readonly series: readonly Series[];
  /** The newest value, for people. */
  readonly text: (value: number | undefined) => string;
}

const width = 240;
const height = 60;

/** A small chart of the last values of one or two lines; the newest are also written out. */
export class LineChart {
  readonly view: HTMLElement;
  readonly #options: ChartOptions;
  readonly #lines: readonly SVGPolylineElement[];
  readonly #now = element('output', {});
  readonly #top = element('span', { class: 'hint' });
  readonly #picture: SVGSVGElement;

  constructor(options: ChartOptions) {
    this.#options = options;
    this.#lines = options.series.map(({ color }) =>
      drawing('polyline', { class: `series-${color}` }),
    );
    const box = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img' };
    this.#picture = drawing('svg', box, ...this.#lines);
    const names = options.series.map(({ name, color }) =>
      element('span', { class: `hint key-${color}` }, `${name} `),
    );
    const caption = element('figcaption', {}, element('span', {}, options.title), this.#now);
    this.view = element('figure', { class: 'chart' }, caption, this.#picture, ...names, this.#top);
  }

  /** @param values of each line, oldest first; a line breaks nowhere: gaps are left out */
  show(values: readonly (readonly (number | undefined)[])[]): void {
    const { text, title, series } = this.#options;
    const newest = values.map((line) => text(line.at(-1)));
    const most = Math.max(0, ...values.flat().filter((value) => value !== undefined));
    this.#now.textContent = newest.join(' / ');
    this.#top.textContent = most > 0 ? `top ${text(most)}` : '';
    for (const [index, line] of this.#lines.entries()) {
      line.setAttribute('points', pointsOf(values[index] ?? [], most));
    }
    const spoken = series.map(({ name }, index) => `${name} ${newest[index]}`).join(', ');
    this.#picture.setAttribute('aria-label', `${title}: ${spoken}`);
  }
}

/** Points of a line across the whole picture, 0 at its foot. */
export function pointsOf(values: readonly (number | undefined)[], most: number): string {
  const step = width / Math.max(1, values.length - 1);
  return values
    .flatMap((value, index) => {
      if (value === undefined) return [];
      const y = most > 0 ? height - 2 - (value / most) * (height - 4) : height - 2;
      return [`${(index * step).toFixed(1)},${y.toFixed(1)}`];
    })
    .join(' ');
}
