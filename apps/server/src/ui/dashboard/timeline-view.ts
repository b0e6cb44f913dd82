import { drawing } from '../shell/element.js';
import { secondsText } from '../shell/number-text.js';
import type { Lane, Stretch } from './trace-lanes.js';

const left = 120;
const width = 1000;
const laneHeight = 28;
/** A picture of more pieces could not be read and would stall the page. */
const mostSlices = 6000;

/** A picture of lanes over a stretch of time; names and times are in tooltips. */
export function timelineView(lanes: readonly Lane[], stretch: Stretch): SVGSVGElement {
  const spanUs = Math.max(stretch.endUs - stretch.startUs, 1e-3);
  const scale = (width - left) / spanUs;
  const height = lanes.length * laneHeight + 20;
  const rows = lanes.map((lane, index) => laneView(lane, { index, stretch, scale }));
  const ends = [stretch.startUs, stretch.endUs].map((atUs, index) =>
    drawing(
      'text',
      {
        x: index === 0 ? left : width,
        y: height - 4,
        'text-anchor': index === 0 ? 'start' : 'end',
      },
      secondsText((atUs - stretch.startUs) / 1e6),
    ),
  );
  const names = lanes.map(({ name }) => name).join(', ');
  return drawing(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Timeline of ${names}` },
    ...rows,
    ...ends,
  );
}

function laneView(
  { name, slices }: Lane,
  place: { readonly index: number; readonly stretch: Stretch; readonly scale: number },
): SVGGElement {
  const { index, stretch, scale } = place;
  const y = index * laneHeight + 4;
  const boxes = slices.slice(0, mostSlices).map((slice) =>
    drawing(
      'rect',
      {
        x: (left + (slice.startUs - stretch.startUs) * scale).toFixed(2),
        y,
        width: Math.max((slice.endUs - slice.startUs) * scale, 0.5).toFixed(2),
        height: laneHeight - 8,
        'fill-opacity': 0.8,
      },
      drawing('title', {}, `${slice.name}: ${secondsText((slice.endUs - slice.startUs) / 1e6)}`),
    ),
  );
  const notDrawn = slices.length - boxes.length;
  const label = notDrawn > 0 ? `${name} (+${notDrawn} not drawn)` : name;
  const text = drawing('text', { x: 0, y: y + 14 }, label);
  return drawing('g', { class: `lane-${index % 4}` }, text, ...boxes);
}
