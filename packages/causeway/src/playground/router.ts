import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import type { Log } from '@causeway/base/observability/log';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Namespaces } from './namespaces.ts';

/**
 * The router between the client and the tenant's network. It translates floating IPs to fixed ones, one to
 * one, from the cloud's own list, as Neutron's L3 agent would.
 */
export class Router {
  readonly #namespaces: Namespaces;
  readonly #cloud: EmbeddedOpenStack;
  readonly #log: Log;
  #applied = '';
  #isApplying = false;

  constructor(namespaces: Namespaces, cloud: EmbeddedOpenStack, log: Log) {
    this.#namespaces = namespaces;
    this.#cloud = cloud;
    this.#log = log;
  }

  async start(): Promise<() => void> {
    await this.#namespaces.nft('router', skeleton);
    await this.#apply();
    return this.#cloud.onRequest(({ method }) => {
      if (method !== 'GET') void this.#apply();
    });
  }

  async #apply(): Promise<void> {
    if (this.#isApplying) return;
    this.#isApplying = true;
    try {
      for (;;) {
        const rules = translation(this.#pairs());
        if (rules === this.#applied) return;
        await this.#namespaces.nft('router', rules);
        this.#applied = rules;
      }
    } catch (error) {
      this.#log.warn({ error: CausewayError.from(error) }, 'setting up the router failed');
    } finally {
      this.#isApplying = false;
    }
  }

  #pairs(): (readonly [string, string])[] {
    return [...this.#cloud.neutron.floatingIps.all()].flatMap((row) =>
      row.fixed_ip_address === null
        ? []
        : [[row.floating_ip_address, row.fixed_ip_address] as const],
    );
  }
}

const skeleton = `
table ip floating {
  map inward { type ipv4_addr : ipv4_addr; }
  map outward { type ipv4_addr : ipv4_addr; }
  chain prerouting {
    type nat hook prerouting priority dstnat;
    dnat to ip daddr map @inward
  }
  chain postrouting {
    type nat hook postrouting priority srcnat;
    oifname "outside" snat to ip saddr map @outward
  }
}
`;

/** Rewrites both maps in one transaction. */
export function translation(pairs: readonly (readonly [string, string])[]): string {
  const lines = ['flush map ip floating inward', 'flush map ip floating outward'];
  for (const [floating, fixed] of pairs) {
    lines.push(`add element ip floating inward { ${floating} : ${fixed} }`);
    lines.push(`add element ip floating outward { ${fixed} : ${floating} }`);
  }
  return `${lines.join('\n')}\n`;
}
