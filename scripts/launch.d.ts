export function canInstall(version: string): boolean;
export function ensureDependencies(): Promise<void>;
export function runNode(args: string[], options: object, from?: string): Promise<number>;
