// Package bench measures Armature on the embedded Temporal server and the
// simulator. Its parts are tests that run when BENCH names them: `make bench`,
// `make bench BENCH=wake`. Each part prints a table and merges its figures into
// dev/bench.json.
package bench
