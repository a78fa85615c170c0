import fs from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { startEmbeddedOpenStack } from '../../../packages/fake-openstack/src/cloud.ts';
import { OctaviaLab } from '../../octavia/lab.ts';
import { quickPauses } from '../../openstack/quick-clock.ts';
import { freePort } from '../../services/free-port.ts';
import type { ServiceProcess } from '../../services/service-process.ts';
import { repository } from '../running-playground.ts';
import { Terminal } from './terminal.ts';

/** A cluster and a cloud with load balancers of another controller, and an operator's terminal. */
export class OctaviaStage {
  readonly lab: OctaviaLab;
  readonly terminal: Terminal;
  readonly #end: () => Promise<void>;
  #controller: ServiceProcess | undefined;

  private constructor(lab: OctaviaLab, terminal: Terminal, end: () => Promise<void>) {
    this.lab = lab;
    this.terminal = terminal;
    this.#end = end;
  }

  static async open(): Promise<OctaviaStage> {
    const kubernetes = await startEmbeddedKubernetes();
    const cloud = await startEmbeddedOpenStack();
    const { authUrl, region } = cloud;
    const lab = await OctaviaLab.open({
      kubeconfig: kubernetes.kubeconfig,
      authUrl,
      region,
      cloudOptions: quickPauses,
    });
    const terminal = await Terminal.open({});
    await terminal.write('kubeconfig', kubernetes.kubeconfig);
    await terminal.write('clouds.yaml', cloud.cloudsYaml);
    await fs.symlink(path.join(repository, 'deploy'), terminal.file('deploy'));
    return new OctaviaStage(lab, terminal, async () => {
      await terminal.close();
      await lab.close();
      await Promise.all([cloud.stop(), kubernetes.stop()]);
    });
  }

  async close(): Promise<void> {
    await this.#end();
  }

  run(line = ''): Promise<string> {
    return this.terminal.run(line, this.#env());
  }

  /** With the page's settings, enabled like in the overlay. */
  async startController(
    settings: Readonly<Record<string, Record<string, unknown>>>,
    octavia: Readonly<Record<string, unknown>>,
    more: object = {},
  ): Promise<void> {
    const port = await freePort();
    const known = { observe: { port }, cloud: 'demo', driftSeconds: 10, ...more };
    const own = { ...settings, ...known, octavia: { ...settings['octavia'], ...octavia } };
    await this.terminal.write('controller.yaml', own);
    this.#controller = await this.terminal.start(
      'causeway controller --config controller.yaml',
      port,
      { ...this.#env(), CAUSEWAY_OCTAVIA_ENABLED: 'true' },
    );
  }

  async stopController(): Promise<void> {
    await this.#controller?.stop(60_000);
  }

  #env(): Record<string, string> {
    return {
      KUBECONFIG: this.terminal.file('kubeconfig'),
      OS_CLIENT_CONFIG_FILE: this.terminal.file('clouds.yaml'),
      OS_CLOUD: 'demo',
    };
  }
}
