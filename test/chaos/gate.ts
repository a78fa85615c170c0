import net from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

/**
 * - `open`: everything passes
 * - `refused`: new connections are refused, open ones are cut
 * - `stalled`: connections stay, and nothing passes in either direction
 * - `delayed`: everything passes, later
 */
export type GateMode = 'open' | 'refused' | 'stalled' | 'delayed';

export interface Gate {
  readonly port: number;
  set(mode: GateMode): void;
  /** Cuts every open connection, in the middle of its data. */
  cut(): void;
  close(): Promise<void>;
}

const delayMs = 400;

/** Proxy from the loopback address to a port or a socket of this machine, where faults can be injected. */
export async function openGate(target: net.NetConnectOpts): Promise<Gate> {
  const passages = new Set<Passage>();
  let mode: GateMode = 'open';
  const server = net.createServer((client) => {
    if (mode === 'refused') {
      client.resetAndDestroy();
      return;
    }
    const passage = new Passage(client, net.connect(target), () => mode);
    passages.add(passage);
    passage.onEnd(() => passages.delete(passage));
  });
  await listen(server);
  const cut = () => {
    for (const passage of passages) passage.cut();
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    set(next) {
      mode = next;
      if (mode === 'refused') cut();
      else for (const passage of passages) passage.goOn();
    },
    cut,
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** One connection through a gate. */
class Passage {
  readonly #ends: readonly [net.Socket, net.Socket];
  readonly #mode: () => GateMode;
  /** Data that waits to pass, in order. */
  readonly #held: (() => void)[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(client: net.Socket, target: net.Socket, mode: () => GateMode) {
    this.#ends = [client, target];
    this.#mode = mode;
    this.#join(client, target);
    this.#join(target, client);
  }

  onEnd(callback: () => void): void {
    this.#ends[0].once('close', callback);
  }

  cut(): void {
    const [client, target] = this.#ends;
    client.resetAndDestroy();
    // It may be a Unix socket, which has no reset.
    target.destroy();
  }

  goOn(): void {
    if (this.#mode() === 'stalled') return;
    for (const step of this.#held.splice(0)) step();
  }

  #join(from: net.Socket, to: net.Socket): void {
    from.on('data', (chunk: Buffer) => {
      // Backpressure: a fast sender has to wait.
      this.#pass(() => {
        if (to.write(chunk)) return;
        from.pause();
        to.once('drain', () => from.resume());
      });
    });
    from.on('end', () => this.#pass(() => to.end()));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      for (const timer of this.#timers) clearTimeout(timer);
      to.destroy();
    });
  }

  #pass(step: () => void): void {
    if (this.#mode() === 'stalled') {
      this.#held.push(step);
      return;
    }
    if (this.#mode() === 'open' && this.#timers.size === 0) {
      step();
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      step();
    }, delayMs);
    this.#timers.add(timer);
  }
}
