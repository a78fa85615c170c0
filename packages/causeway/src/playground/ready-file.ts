/** The content of `--ready-file` for scripts. The parent of the playground can use every value unchanged. */
export interface ReadyFile {
  readonly kubeconfig: string;
  /** `kernel`: packets flow. `memory`: rules are computed and stored, no packets flow. */
  readonly datapath: 'kernel' | 'memory';
  readonly client: Machine;
  readonly gateways: readonly (Machine & { readonly name: string; readonly agent: string })[];
  readonly nodes: readonly (Machine & { readonly name: string })[];
  readonly openstack: { readonly clouds: string; readonly openrc: string };
  readonly ipam: { readonly url: string; readonly tokenFile: string };
  readonly dashboard: { readonly url: string };
}

export interface Machine {
  /** Its name, or a path if it has none; null in memory, where every machine is the host. */
  readonly netns: string | null;
  /** The prefix that makes a command run there; empty in memory. */
  readonly exec: readonly string[];
}
