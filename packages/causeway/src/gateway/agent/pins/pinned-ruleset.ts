import type { Address } from '@causeway/base/address/address';
import type { LayoutChange } from '@causeway/nftables/compile/layout-change';
import type {
  Backend,
  ServiceKey,
  VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import type { PinChange } from '@causeway/nftables/pins/kernel-pins';
import type { Pin } from '@causeway/nftables/pins/pin';

/** Follows the layout in the kernel. */
export interface LayoutListener {
  /** The pins that an earlier process left in the kernel. */
  loaded(pins: readonly Pin[]): void;
  /** The change is committed next. */
  changing(change: LayoutChange): void;
  /** The change is committed. */
  changed(change: LayoutChange): void;
}

/** The part of the rules that pins depend on. */
export interface PinnedRuleset {
  readonly services: ReadonlyMap<ServiceKey, VirtualService>;
  /** The nodes of `node-ports` services. */
  readonly nodes: readonly Address[];
  /** The services of a TCP backend, if there are two or more. */
  servicesSharing(backend: Backend): readonly ServiceKey[];
  follow(listener: LayoutListener): void;
  /** Atomic. Resolves when the kernel has the change. */
  writePins(change: PinChange, signal: AbortSignal): Promise<void>;
}
