import type { Curve, Point, Series } from './curve.ts';

const width = 720;
const height = 400;
const frame = { left: 64, right: 190, top: 44, bottom: 52 };
const inner = {
  width: width - frame.left - frame.right,
  height: height - frame.top - frame.bottom,
};
/** Distinguishable with color blindness, on white: blue, vermilion, green, purple, ochre. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#8e4a9e', '#b8860b'];

/** A curve as a drawing: both axes logarithmic, the spread of the rounds as a band. */
export function plot(curve: Curve): string {
  const points = curve.series.flatMap((series) => series.points);
  const across = new Axis(
    points.map(({ at }) => at),
    { from: frame.left, to: frame.left + inner.width },
  );
  const up = new Axis(
    points.flatMap(({ low, high }) => [low, high, 1]),
    { from: frame.top + inner.height, to: frame.top },
  );
  const parts = [
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(frame.left, 24, curve.title, 'font-size="15" font-weight="600"'),
    ...grid(across, up),
    ...curve.series.flatMap((series, index) => line(series, index, across, up)),
    ...labels(curve, up),
    text(frame.left + inner.width / 2, height - 12, curve.along, 'text-anchor="middle"'),
    text(frame.left, frame.top - 6, `× ${curve.baseline}`, 'fill="#555"'),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#111" role="img">`,
    `<title>${escaped(curve.title)}</title>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

/** Maps values to positions, by their logarithms. */
class Axis {
  readonly #lowest: number;
  readonly #span: number;
  readonly #place: { readonly from: number; readonly to: number };

  constructor(values: readonly number[], place: { from: number; to: number }) {
    const logs = values.map((value) => Math.log10(value));
    this.#lowest = Math.floor(Math.min(...logs) * 10) / 10;
    this.#span = Math.max(Math.ceil(Math.max(...logs) * 10) / 10 - this.#lowest, 0.3);
    this.#place = place;
  }

  at(value: number): number {
    const share = (Math.log10(value) - this.#lowest) / this.#span;
    return round(this.#place.from + share * (this.#place.to - this.#place.from));
  }

  /** Powers of ten, with 2 and 5 between them where there is room. */
  ticks(): number[] {
    const factors = this.#span > 2.5 ? [1] : [1, 2, 5];
    const found: number[] = [];
    for (let power = Math.floor(this.#lowest); power <= this.#lowest + this.#span; power += 1) {
      for (const factor of factors) {
        const value = factor * 10 ** power;
        const log = Math.log10(value);
        if (log >= this.#lowest - 1e-9 && log <= this.#lowest + this.#span + 1e-9)
          found.push(value);
      }
    }
    return found;
  }
}

function grid(across: Axis, up: Axis): string[] {
  const bottom = frame.top + inner.height;
  const right = frame.left + inner.width;
  return [
    ...across.ticks().flatMap((value) => {
      const x = across.at(value);
      return [
        `<path d="M${x} ${frame.top}V${bottom}" stroke="#eee"/>`,
        text(x, bottom + 18, number(value), 'text-anchor="middle" fill="#555"'),
      ];
    }),
    ...up.ticks().flatMap((value) => {
      const y = up.at(value);
      const stroke = value === 1 ? '#999' : '#eee';
      return [
        `<path d="M${frame.left} ${y}H${right}" stroke="${stroke}"/>`,
        text(frame.left - 8, y + 4, number(value), 'text-anchor="end" fill="#555"'),
      ];
    }),
  ];
}

function line({ points }: Series, index: number, across: Axis, up: Axis): string[] {
  const colour = colourOf(index);
  const path = (of: (point: Point) => number, order: readonly Point[]) =>
    order.map((point) => `${across.at(point.at)} ${up.at(of(point))}`).join('L');
  const band = `M${path(({ high }) => high, points)}L${path(({ low }) => low, [...points].reverse())}Z`;
  return [
    `<path d="${band}" fill="${colour}" opacity="0.15"/>`,
    `<path d="M${path(({ ratio }) => ratio, points)}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...points.map(
      ({ at, ratio }) =>
        `<circle cx="${across.at(at)}" cy="${up.at(ratio)}" r="3" fill="${colour}"/>`,
    ),
  ];
}

/** The lines' names beside their ends, moved apart where they would overlap. */
function labels({ series }: Curve, up: Axis): string[] {
  const wanted = series
    .map(({ name, points }, index) => ({ name, index, y: up.at(points.at(-1)?.ratio ?? 1) }))
    .sort((left, right) => left.y - right.y);
  let lowest = frame.top;
  return wanted.map(({ name, index, y }) => {
    lowest = Math.max(y, lowest + 16);
    return text(
      ...([frame.left + inner.width + 10, lowest + 4, name] as const),
      `fill="${colourOf(index)}"`,
    );
  });
}

const colourOf = (index: number) => colours[index % colours.length] ?? '#111';
const round = (value: number) => Math.round(value * 10) / 10;
const number = (value: number) => Number(value.toPrecision(2)).toLocaleString('en-US');

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${round(y)}" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
