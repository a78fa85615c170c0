#!/usr/bin/env node
// Hands over to the pinned Node. From a clone it runs the TypeScript sources, from a package the compiled ones.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies, runNode } from '../scripts/launch.js';

const root = path.dirname(path.dirname(fs.realpathSync(fileURLToPath(import.meta.url))));
const sources = path.join(root, 'packages', 'causeway', 'src', 'cli', 'main.ts');
const fromClone = fs.existsSync(sources);
if (fromClone) await ensureDependencies();
const main = fromClone ? sources : path.join(root, 'dist', 'causeway', 'src', 'cli', 'main.js');
// The pages of the dashboard are TypeScript in a clone; the part of Node that reads it is still called experimental.
const flags = fromClone ? ['--disable-warning=ExperimentalWarning'] : [];
const args = [...flags, main, ...process.argv.slice(2)];
process.exit(await runNode(args, { cwd: process.cwd() }, root));
