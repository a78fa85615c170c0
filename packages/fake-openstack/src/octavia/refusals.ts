import { Refusal } from '../http/refusal.ts';

export function invalid(message: string): Refusal {
  return new Refusal(400, message);
}

export function validationFailure(message: string): Refusal {
  return invalid(`Validation failure: ${message}`);
}

export function invalidField(name: string, value: string, reason: string): Refusal {
  return invalid(`Invalid input for field/attribute ${name}. Value: '${value}'. ${reason}`);
}

export function notFound(kind: string, id: string): Refusal {
  return new Refusal(404, `${kind} ${id} not found.`);
}

/** If the pool in a member path does not exist, the answer is plain text. */
export function poolOfPathNotFound(id: string): Refusal {
  return new Refusal(404, `Pool ${id} not found.`, { plain: true });
}

export function immutable(kind: string, id: string): Refusal {
  return new Refusal(409, `${kind} ${id} is immutable and cannot be updated.`);
}

export function conflict(message: string): Refusal {
  return new Refusal(409, message);
}

export function policyRefusal(): Refusal {
  return new Refusal(403, 'Policy does not allow this request to be performed.');
}

export function overQuota(kind: string): Refusal {
  return new Refusal(403, `Quota has been met for resources: ${kind}`);
}

export function unsupportedOption(provider: string, message: string): Refusal {
  return new Refusal(501, `Provider '${provider}' does not support a requested option: ${message}`);
}

export function providerError(provider: string, message: string): Refusal {
  return new Refusal(500, `Provider '${provider}' reports error: ${message}`);
}
