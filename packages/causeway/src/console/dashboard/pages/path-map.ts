import type { ServicePath, ServiceState } from '../../overview/rows.ts';
import { svg } from './element.ts';

interface Box {
  readonly title: string;
  readonly note: string;
  /** CSS class: `good`, `waiting`, `bad` or `quiet`. */
  readonly mood: string;
  /** Whether traffic goes through it now. */
  readonly isOnPath: boolean;
}

const wideWidth = 880;
const boxWidth = 180;
const boxHeight = 46;
const gap = 14;
const mostEndpoints = 8;

interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly placed: readonly (readonly Placed[])[];
}

/**
 * Draws client, addresses, gateways and endpoints with their connections: from left to right, or from top to
 * bottom on a narrow screen.
 */
export function pathMap(path: ServicePath, isNarrow: boolean): SVGSVGElement {
  const columns = columnsOf(path);
  const { width, height, placed } = isNarrow ? downward(columns) : sideward(columns);
  const lines: SVGElement[] = [];
  for (const [column, left] of placed.entries()) {
    for (const from of left) {
      for (const to of placed[column + 1] ?? []) lines.push(lineBetween(from, to, isNarrow));
    }
  }
  const boxes = placed.flat().map(({ box, x, y }) => drawBox(box, x, y));
  return svg(
    'svg',
    {
      class: 'map',
      viewBox: `-1 -1 ${width + 2} ${height + 2}`,
      role: 'img',
      'aria-label': describe(path),
    },
    ...lines,
    ...boxes,
  );
}

function sideward(columns: readonly (readonly Box[])[]): Drawing {
  const most = Math.max(...columns.map(({ length }) => length));
  const height = Math.max(1, most) * (boxHeight + gap) + gap;
  const step = columns.length > 1 ? (wideWidth - boxWidth) / (columns.length - 1) : 0;
  const placed = columns.map((boxes, column) =>
    boxes.map((box, index) => ({
      box,
      x: column * step,
      y: height / 2 + (index - (boxes.length - 1) / 2) * (boxHeight + gap) - boxHeight / 2,
    })),
  );
  return { width: wideWidth, height, placed };
}

/** At most two side by side, so that they stay readable. */
function downward(columns: readonly (readonly Box[])[]): Drawing {
  const width = 2 * boxWidth + gap;
  let y = 0;
  const placed = columns.map((boxes) => {
    const row = boxes.map((box, index) => {
      const isAlone = index === boxes.length - 1 && index % 2 === 0;
      const x = isAlone ? (width - boxWidth) / 2 : (index % 2) * (boxWidth + gap);
      return { box, x, y: y + Math.floor(index / 2) * (boxHeight + gap) };
    });
    y += Math.ceil(boxes.length / 2) * (boxHeight + gap) + 2 * gap;
    return row;
  });
  return { width, height: y - 3 * gap, placed };
}

const addressMoods: Readonly<Record<ServiceState, Box['mood']>> = {
  serving: 'good',
  idle: 'quiet',
  internal: 'quiet',
  degraded: 'waiting',
  pending: 'waiting',
  deleting: 'waiting',
  'no-endpoints': 'bad',
  'not-served': 'bad',
  unknown: 'bad',
};

function isServed(state: ServiceState): boolean {
  return state === 'serving' || state === 'degraded' || state === 'idle';
}

function columnsOf(path: ServicePath): Box[][] {
  const { service, gateways, endpoints } = path;
  const columns: Box[][] = [
    [{ title: 'client', note: '', mood: 'quiet', isOnPath: true }],
    service.addresses.map((address) => ({
      title: address,
      note: service.ports.join(' '),
      mood: addressMoods[service.state],
      isOnPath: isServed(service.state),
    })),
  ];
  if (service.addresses.length === 0) {
    columns[1] = [{ title: 'no address', note: service.reason, mood: 'bad', isOnPath: false }];
  }
  if (gateways.length > 0) {
    columns.push(
      gateways.map(({ name, role, canServe, connections }) => ({
        title: name,
        note: `${role}${connections === null ? '' : `, ${connections} connections`}`,
        mood: canServe ? (role === 'active' ? 'good' : 'quiet') : 'bad',
        isOnPath: role === 'active' && canServe,
      })),
    );
  }
  const shown = endpoints.slice(0, mostEndpoints).map(({ address, target, node, state }) => ({
    title: target || address,
    note: target ? `${address} on ${node || 'no node'}` : state,
    mood: state === 'ready' ? 'good' : 'waiting',
    isOnPath: state === 'ready',
  }));
  if (endpoints.length > mostEndpoints) {
    const more = `and ${endpoints.length - mostEndpoints} more`;
    shown.push({ title: more, note: '', mood: 'quiet', isOnPath: false });
  }
  if (shown.length === 0) {
    const isIdle = service.state === 'idle';
    shown.push({
      title: isIdle ? 'idle' : 'no endpoint',
      note: isIdle ? 'wakes on a connection' : 'no endpoint is ready',
      mood: isIdle ? 'waiting' : 'bad',
      isOnPath: false,
    });
  }
  return [...columns, shown];
}

interface Placed {
  readonly box: Box;
  readonly x: number;
  readonly y: number;
}

function lineBetween(from: Placed, to: Placed, isNarrow: boolean): SVGElement {
  const isOnPath = from.box.isOnPath && to.box.isOnPath;
  return svg('path', {
    class: isOnPath ? 'wire live' : 'wire',
    d: isNarrow ? curveDown(from, to) : curveAside(from, to),
  });
}

function curveAside(from: Placed, to: Placed): string {
  const [x1, y1] = [from.x + boxWidth, from.y + boxHeight / 2];
  const [x2, y2] = [to.x, to.y + boxHeight / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function curveDown(from: Placed, to: Placed): string {
  const [x1, y1] = [from.x + boxWidth / 2, from.y + boxHeight];
  const [x2, y2] = [to.x + boxWidth / 2, to.y];
  const middle = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
}

function drawBox({ title, note, mood }: Box, x: number, y: number): SVGElement {
  const place = { x: String(x + 12), y: String(y + (note === '' ? 28 : 20)) };
  return svg(
    'g',
    { class: `box ${mood}` },
    svg('title', {}, `${title} ${note}`),
    svg('rect', {
      x: String(x),
      y: String(y),
      width: String(boxWidth),
      height: String(boxHeight),
      rx: '8',
    }),
    svg('text', { ...place, class: 'name' }, short(title, 22)),
    note === ''
      ? undefined
      : svg('text', { x: String(x + 12), y: String(y + 36), class: 'note' }, short(note, 28)),
  );
}

function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function describe({ service, gateways, endpoints }: ServicePath): string {
  const ready = endpoints.filter(({ state }) => state === 'ready').length;
  const active = gateways.find(({ role }) => role === 'active')?.name;
  const through = active === undefined ? '' : ` through the gateway ${active}`;
  return `From a client to ${service.addresses.join(', ') || 'no address'}${through} to ${ready} of ${endpoints.length} endpoints`;
}
