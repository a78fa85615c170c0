import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FreshMachine, type MachineUser } from '../services/fresh-machine.ts';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { runOrThrow } from '../services/run-program.ts';
import { waitFor } from '../services/wait-for.ts';
import { MachineWindow } from './machine-window.ts';
import { repository } from './running-playground.ts';

const readme = fs.readFileSync(path.join(repository, 'README.md'), 'utf8');
const available = await isAvailable(async () => {
  await FreshMachine.prepare();
  await ensureProgram('kubectl');
});

/** The lines of the first example below a heading of the README, without comments. */
function example(heading: string): string[] {
  const pattern = new RegExp(`^## ${heading}$[^]*?^\`\`\`sh$([^]*?)^\`\`\`$`, 'm');
  const [, block = ''] = pattern.exec(readme) ?? [];
  const lines = block.split('\n').map((line) => line.replace(/ +#.*/, ''));
  return lines.filter(Boolean);
}

/** The library that the pinned Node needs, according to the README. */
const library = /needs `(\w+)`/.exec(readme)?.[1] ?? '';
/** The command in the README that installs what packets need. */
const install = /`(apt-get install [^`]+)`/.exec(readme)?.[1] ?? '';
const [start = '', all = ''] = example('Try it');
const place = '/home/somebody/causeway';

/** One after the other on one machine: first with the common programs, then with those that packets need. */
describe.runIf(available)("the README's quick start on a fresh machine", () => {
  let machine: FreshMachine;
  let window: MachineWindow;

  beforeAll(async () => {
    machine = await FreshMachine.boot();
    await machine.install(await ensureProgram('kubectl'));
    await clone();
  });
  afterAll(() => machine.close());

  /** What git would clone if everything was committed. */
  const clone = async () => {
    const archive = machine.file('tmp/clone.tar');
    const list = 'git ls-files -z --cached --others --exclude-standard --deduplicate';
    const command = `${list} | tar --null --files-from=- --ignore-failed-read --create --file=${archive}`;
    await runOrThrow('bash', ['-c', command], { cwd: repository });
    await machine.run(`mkdir ${place} && tar -xf /tmp/clone.tar -C ${place}`, 'somebody');
    await machine.run('rm /tmp/clone.tar');
  };
  const open = async (user: MachineUser) => {
    window = new MachineWindow(machine, `cd ${place} && ${start}`, user);
    return tourOf(await window.until('Ctrl-C stops it'));
  };
  /** Types the tour line by line into a second window, and returns the output of each line. */
  const walk = async (tour: readonly string[], user: MachineUser) => {
    const marked = tour.map((line) => `${line}\necho "$?@@"`);
    const text = await machine.run(
      `cd ${place} && bash 2>&1 <<'TOUR'\n${marked.join('\n')}\nTOUR`,
      user,
    );
    const answers = text.split(/(\d+)@@\n/);
    return tour.map((line, index) => ({
      line: `${index}: ${line}`,
      answer: answers[2 * index] ?? '',
      code: answers[2 * index + 1],
    }));
  };
  const expectDiscovered = async (line: string, tour: readonly string[], user: MachineUser) => {
    const settings = tour.find((each) => each.startsWith('export KUBECONFIG='));
    await waitFor('the load balancer of the cloud', async () =>
      (await machine.run(`${settings}\n${line}`, user)).includes('shop'),
    );
  };
  const expectNothingLeft = async () => {
    window.pressCtrlC();
    await window.closed;
    await waitFor('its processes to end', async () => {
      const left = await machine.processes();
      if (left.length > 0) throw new Error(left.join('\n'));
      return true;
    });
    const left = 'ls -d /tmp/causeway-* /run/netns/* 2>/dev/null || true';
    expect(await machine.run(left)).toBe('');
  };

  test('has two lines', () => {
    expect([start, all]).toEqual(['npm start', 'npm test']);
    expect(example('Try it')).toHaveLength(2);
  });

  test('with only git, curl and Node: everything runs, and names what packets need', async () => {
    const { code, stderr } = await machine.attempt(`cd ${place} && ${start}`, 'somebody');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`apt-get install ${library}.`)]);
    await machine.run(`apt-get -q update && apt-get install -y -q ${library}`);
    const tour = await open('somebody');
    expect(window.text).toContain(`Nothing flows here: `);
    expect(window.text).toContain(install);
    const walked = await walk(tour, 'somebody');
    expect(walked.filter(({ code }) => code !== '0')).toEqual([]);
    const answerTo = (word: string) => walked.findLast(({ line }) => line.includes(word))?.answer;
    expect(answerTo('explain web')).toContain('served');
    expect(answerTo('kubectl get deployment web')).toMatch(/^web +0\/0/m);
    await expectDiscovered(tour.at(-1) ?? '', tour, 'somebody');
    await expectNothingLeft();
    // All of them would take almost an hour.
    expect(await machine.run(`cd ${place} && ${all} -- packages/base/src`, 'somebody')).toMatch(
      /\d+ passed, 0 failed\n$/,
    );
  });

  test.each(['somebody', 'root'] as const)(
    'with what packets need, as %s: the whole tour',
    async (user) => {
      await machine.run(`apt-get -q update && ${install} ${library} -y -q`);
      const tour = await open(user);
      expect(window.text).not.toContain('Nothing flows here');
      const walked = await walk(tour, user);
      expect(walked.filter(({ code }) => code !== '0')).toEqual([]);
      const curls = walked.filter(({ line }) => / curl -s .*\$\(kubectl/.test(line));
      expect(curls).toHaveLength(3);
      for (const { answer } of curls) expect(answer).toMatch(/^web-\S+ saw 198\.51\.100\.10:/);
      await expectDiscovered(tour.at(-1) ?? '', tour, user);
      await expectNothingLeft();
    },
  );
});

/** The commands of the tour, in its order. */
function tourOf(text: string): string[] {
  const [, stops = ''] = text.split(/^(?=1\. )/m);
  return stops
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.trim());
}
