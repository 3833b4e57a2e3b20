// Package docs runs the commands of README, CONTRIBUTING, docs/ and the READMEs of
// deploy/ as a reader types them: every block of a page, from top to bottom, in one shell.
//
//   - A block ```sh is run command by command; each must end with exit code 0,
//     or with the one in a comment at its end ("# exits 2: ...").
//   - In a block ```console a line that begins with "$ " is a command. The lines
//     below it must be in its output, in this order (get, describe, why and doctor
//     are repeated until they are). Times, ages, numbers and IDs may differ, and
//     the page may omit lines.
//   - A command with the comment "in another terminal" runs in the background.
//   - A block ```yaml that begins with a comment "# name.yaml" is that file, and so is a
//     block ```go that begins with "// name.go".
//
// An HTML comment on the line before a block changes how it is run:
//
//   - "session: demo" starts a new shell; worlds has the servers of each session.
//     A page starts with "demo" unless its first block has another one.
//   - "not run: REASON" checks only the syntax of the commands, and the flags of
//     armature and worker. The test lists these blocks; there should be few.
//
// temporal.example.com:7233 is replaced by the Temporal server of the session, and
// http://127.0.0.1:8443 by its simulator. testdata/ has the reader's own files.
package docs
