// Package repo tests the repository as a whole: imports between packages, the
// size and language of source files, links and tables of the docs, the compose
// file and its services, and the example of a custom worker. It has no code of
// its own.
package repo
