#!/usr/bin/env node
// What kubectl runs when somebody presses Tab after "kubectl causeway", under the name kubectl_complete-causeway.

process.argv.splice(2, 0, 'kubectl-completion');
await import('./causeway.js');
