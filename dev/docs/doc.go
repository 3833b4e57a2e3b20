// Package docs runs the commands of README, CONTRIBUTING and docs/ as a reader
// would type them: every block of a page, from top to bottom, in one shell.
//
//   - A block ```sh is run command by command; each must end with exit code 0,
//     or with the one that a comment at its end tells ("# exits 2: ...").
//   - In a block ```console a line that begins with "$ " is a command, and what
//     stands below it must be in its output, in this order (get, describe, why
//     and doctor are repeated until they show it). Times, ages, numbers
//     and IDs may differ, and lines may lack.
//   - A command whose comment says "in a terminal of its own" goes on in the
//     background.
//   - A block ```yaml that begins with a comment "# name.yaml" is that file.
//
// An HTML comment on the line before a block changes how it is run:
//
//   - "session: demo" begins a new shell; see worlds for what runs beside it. The
//     first block of a page without one begins with "demo".
//   - "not run: why" only checks the commands: their syntax, and the flags of
//     those of ours. The test lists these blocks; there must be few.
//
// temporal.example.com:7233 is the Temporal server of the session, and
// http://127.0.0.1:8443 its simulator. The files of testdata/ are the reader's own.
package docs
