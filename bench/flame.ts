/** The format of V8's --cpu-prof, with the fields used here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Frame {
  readonly name: string;
  /** File and line. */
  readonly place: string;
  /** In microseconds, with all its callees. */
  total: number;
  readonly callees: Map<string, Frame>;
}

const width = 1_200;
const rowHeight = 17;
const smallestShare = 0.004;
/** Idle states. */
const resting = new Set(['(idle)', '(program)']);

/** A flame graph: width is time, callers are below the functions that they call. */
export function flameGraph(profile: CpuProfile, title: string): string {
  const root = stacks(profile);
  const depth = depthOf(root, root.total * smallestShare);
  const height = depth * rowHeight + 40;
  const boxes = draw(root, 0, width, {
    bottom: height - rowHeight - 4,
    least: smallestShare * width,
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="6" y="20" font-size="14" font-weight="600">${escaped(title)}: ${(root.total / 1e6).toFixed(1)} s of work</text>`,
    ...boxes,
    '</svg>',
    '',
  ].join('\n');
}

/** The functions with the most self time, and their shares. */
export function hottest(profile: CpuProfile, count: number): { place: string; share: number }[] {
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const times = new Map<string, number>();
  let total = 0;
  for (const [index, id] of profile.samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || resting.has(frame.functionName)) continue;
    const time = profile.timeDeltas[index] ?? 0;
    total += time;
    const place = `${nameOf(frame)} ${placeOf(frame)}`.trim();
    times.set(place, (times.get(place) ?? 0) + time);
  }
  return [...times]
    .sort(([, left], [, right]) => right - left)
    .slice(0, count)
    .map(([place, time]) => ({ place, share: time / total }));
}

/** Samples summed by their stacks, from the root on. */
function stacks(profile: CpuProfile): Frame {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) parents.set(child, id);
  }
  const root: Frame = { name: 'all', place: '', total: 0, callees: new Map() };
  for (const [index, sample] of profile.samples.entries()) {
    const stack: CpuProfile['nodes'][number]['callFrame'][] = [];
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const node = nodes.get(id);
      if (node !== undefined && node.callFrame.functionName !== '(root)')
        stack.push(node.callFrame);
    }
    if (stack.some(({ functionName }) => resting.has(functionName))) continue;
    addStack(root, withoutLoader(stack.reverse()), profile.timeDeltas[index] ?? 0);
  }
  return root;
}

const loading = { functionName: '(loading modules)', url: '', lineNumber: 0 };

/** Modules load each other, a hundred calls deep; one box for all of it is enough. */
function withoutLoader(
  stack: readonly CpuProfile['nodes'][number]['callFrame'][],
): CpuProfile['nodes'][number]['callFrame'][] {
  const isLoader = ({ url }: { url: string }) => url.startsWith('node:internal/modules/');
  const last = stack.findLastIndex(isLoader);
  if (last === -1) return [...stack];
  const after = stack.slice(last + 1);
  return after.some(({ url }) => url.startsWith('file:')) ? after : [loading];
}

function addStack(
  root: Frame,
  stack: readonly CpuProfile['nodes'][number]['callFrame'][],
  time: number,
): void {
  let frame = root;
  frame.total += time;
  for (const call of stack) {
    const [name, place] = [nameOf(call), placeOf(call)];
    const key = `${name} ${place}`;
    const callee = frame.callees.get(key) ?? { name, place, total: 0, callees: new Map() };
    frame.callees.set(key, callee);
    callee.total += time;
    frame = callee;
  }
}

function nameOf({ functionName }: { functionName: string }): string {
  return functionName === '' ? '(anonymous)' : functionName;
}

/** The last directories of a path: enough to find it, and nothing of the machine. */
function placeOf({ url, lineNumber }: { url: string; lineNumber: number }): string {
  if (url === '') return '';
  return `${url.split('/').slice(-3).join('/')}:${lineNumber + 1}`;
}

function depthOf(frame: Frame, least: number): number {
  if (frame.total < least) return 0;
  return 1 + Math.max(0, ...[...frame.callees.values()].map((callee) => depthOf(callee, least)));
}

function draw(
  frame: Frame,
  left: number,
  boxWidth: number,
  { bottom, least }: { bottom: number; least: number },
): string[] {
  const label = boxWidth > 30 ? frame.name.slice(0, Math.floor(boxWidth / 6.2)) : '';
  const boxes = [
    `<g><title>${escaped(`${frame.name} ${frame.place}, ${(frame.total / 1000).toFixed(0)} ms`)}</title>`,
    `<rect x="${left.toFixed(1)}" y="${bottom}" width="${Math.max(boxWidth - 0.5, 0.1).toFixed(1)}" height="${rowHeight - 1}" fill="${colourOf(frame)}"/>`,
    ...(label === ''
      ? []
      : [`<text x="${(left + 3).toFixed(1)}" y="${bottom + 12}">${escaped(label)}</text>`]),
    '</g>',
  ];
  let at = left;
  for (const callee of [...frame.callees.values()].sort((one, other) => other.total - one.total)) {
    const calleeWidth = (boxWidth * callee.total) / frame.total;
    if (calleeWidth >= least) {
      boxes.push(...draw(callee, at, calleeWidth, { bottom: bottom - rowHeight, least }));
    }
    at += calleeWidth;
  }
  return boxes;
}

/** Causeway in warm colors, libraries and Node in cool ones. */
function colourOf({ name, place }: Frame): string {
  if (name === '(garbage collector)') return '#c9c9c9';
  const hue = /^(src|.*\/src)\//.test(place) || /\.ts:/.test(place) ? 28 : 205;
  return `hsl(${hue + (name.length % 5) * 4} 80% ${68 + (name.length % 3) * 4}%)`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
