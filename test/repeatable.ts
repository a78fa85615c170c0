import fc from 'fast-check';

// Every run of the suites tries the same cases, so that one fails only by what was changed. To look for
// new ones: `FC_SEED=random npm test`; a number gives the cases of a run that found something.
const given = process.env['FC_SEED'] ?? '1';
const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
