// Package worlds has only tests: random worlds. A world is a set of manifests, taken from the
// examples and changed by values of the published types, with a simulator, a worker and the CLI.
// A script applies, edits and deletes manifests, changes resources as another client, freezes,
// rotates the secret and kills the worker. At its end the last manifests are applied, and Azure
// must have the same as after an apply of them to an empty subscription, apart from the values
// that other clients own.
//
// A script that fails is cut to the steps that it needs. Kept scripts are in testdata.
package worlds
