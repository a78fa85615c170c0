import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ControllerSettings } from './settings.ts';

/** Missing settings, each with the name of the setting. */
export function settingsProblems(settings: ControllerSettings): readonly string[] {
  const { defaultProvider, gateway } = settings;
  const problems: string[] = [];
  if (defaultProvider !== undefined && !settings[defaultProvider].enabled) {
    problems.push(
      `defaultProvider is ${defaultProvider}, and ${defaultProvider}.enabled is not set`,
    );
  }
  if (!gateway.enabled) return problems;
  if (gateway.portManager === 'openstack' && gateway.subnets.length === 0) {
    problems.push('gateway.portManager is openstack, and gateway.subnets names no subnet');
  }
  if (gateway.portManager === 'static' && gateway.addresses.length === 0) {
    problems.push('gateway.portManager is static, and gateway.addresses is empty');
  }
  const unkeyed = gateway.agents.find(
    ({ secretFile = gateway.secretFile }) => secretFile === undefined,
  );
  if (unkeyed !== undefined) {
    problems.push(`gateway.secretFile is missing: the gateway ${unkeyed.name} has no secret`);
  }
  return problems;
}

/** The files that the settings name, by setting. */
export function namedFiles({
  gateway,
}: ControllerSettings): Readonly<Record<string, string | undefined>> {
  if (!gateway.enabled) return {};
  return {
    'gateway.secretFile': gateway.secretFile,
    'gateway.agentAuthorityFile': gateway.agentAuthorityFile,
    ...Object.fromEntries(
      gateway.agents.map(({ name, secretFile }) => [
        `gateway.agents ${name}.secretFile`,
        secretFile,
      ]),
    ),
  };
}

/** A controller that could not serve any Service fails at once, not with each Service. */
export function requireUsable(settings: ControllerSettings): void {
  const problems = settingsProblems(settings);
  if (problems.length > 0) throw new CausewayError('invalid', problems.join('; '));
}
