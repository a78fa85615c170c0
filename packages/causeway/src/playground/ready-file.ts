/** What scripts read from `--ready-file`. Every value is usable as it is by whoever started the playground. */
export interface ReadyFile {
  readonly kubeconfig: string;
  /** `kernel`: packets flow for real. `memory`: rules are worked out and kept, nothing flows. */
  readonly datapath: 'kernel' | 'memory';
  readonly client: Machine;
  readonly gateways: readonly (Machine & { readonly name: string; readonly agent: string })[];
  readonly nodes: readonly (Machine & { readonly name: string })[];
  readonly openstack: { readonly clouds: string; readonly openrc: string };
  readonly ipam: { readonly url: string; readonly tokenFile: string };
  readonly dashboard: { readonly url: string };
}

export interface Machine {
  /** Its name, a path where it has none; null in memory, where every machine is this one. */
  readonly netns: string | null;
  /** The words to put before a command so that it runs there; none in memory. */
  readonly exec: readonly string[];
}
