import type { Acknowledgement } from '../../agent/admit/acknowledgement.ts';
import type { AgentStatus } from '../../agent/http/status.ts';
import type { Endpoint } from '../../agent/model/endpoint.ts';
import { PushReader, type Push } from '../../agent/wire/push.ts';
import { CausewayError } from '../../domain/error.ts';
import type { AgentPort } from './agent-link.ts';

/** An agent that takes everything, unless told to fail, to hang or to keep something. */
export class MemoryAgent implements AgentPort {
  readonly pushes: Push[] = [];
  readonly holds = new Map<string, Endpoint>();
  generation = 0;
  mode: 'works' | 'fails' | 'hangs' = 'works';
  keeps: { address: string; protocol: 'TCP'; port: number } | undefined;

  async status(signal: AbortSignal): Promise<AgentStatus> {
    await this.#suffer(signal);
    return { generation: this.generation, older: [] } as unknown as AgentStatus;
  }

  async push(lines: Iterable<string>, signal: AbortSignal): Promise<Acknowledgement> {
    await this.#suffer(signal);
    const reader = new PushReader();
    for (const line of lines) reader.line(line.trimEnd());
    const push = reader.result();
    if (push.header.kind === 'delta' && push.header.base !== this.generation) {
      throw new CausewayError('conflict', 'another base');
    }
    this.pushes.push(push);
    if (push.header.kind === 'state') this.holds.clear();
    for (const key of push.removedEndpoints) this.holds.delete(key);
    for (const [key, value] of push.endpoints) this.holds.set(key, value);
    this.generation = push.header.generation;
    const older =
      this.keeps === undefined ? [] : [{ ...this.keeps, generation: 1, reason: 'broken' }];
    return { generation: this.generation, committed: true, older, errors: [] };
  }

  #suffer(signal: AbortSignal): Promise<void> {
    if (this.mode === 'fails') return Promise.reject(new CausewayError('unavailable', 'no route'));
    if (this.mode === 'works') return Promise.resolve();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(CausewayError.from(signal.reason)), {
        once: true,
      });
    });
  }
}
