import { z } from 'zod';

// Settings that several commands share. Each command's reference lists them in its own place.

/** A port to listen on; 0 takes a free port. */
export const listenPort = z.number().int().min(0).max(65535);

export const logSettings = z
  .strictObject({
    level: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('what to log'),
    format: z.enum(['json', 'text']).default('json').describe('how to log'),
  })
  .prefault({});

/** Where a command serves health and metrics. */
export const observeSettings = (port: number) =>
  z
    .strictObject({
      address: z
        .string()
        .min(1)
        .default('127.0.0.1')
        .describe('address that health and metrics listen on'),
      port: listenPort.default(port).describe('port of health and metrics'),
    })
    .prefault({});

/** How a command finds the Kubernetes API. */
export const connectionSettings = {
  kubeconfig: z
    .string()
    .min(1)
    .optional()
    .describe('kubeconfig; else KUBECONFIG, the pod, or ~/.kube/config'),
  context: z.string().min(1).optional().describe('context of the kubeconfig'),
};

/** How a command finds OpenStack. */
export const cloudSetting = z
  .string()
  .min(1)
  .optional()
  .describe('entry of clouds.yaml; else OS_CLOUD or the OS_ variables');
