import fc from 'fast-check';

// Every run of the suites tries the same cases, so that a failure comes only from a change. To search for new
// ones: `FC_SEED=random npm test`; a number repeats the cases of a run that failed.
const given = process.env['FC_SEED'] ?? '1';
const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
