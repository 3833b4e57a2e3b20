// Package editor tests what an author sees while writing manifests: the schema of
// `armature init --print` and the settings of `armature init`, with the YAML language server
// that Visual Studio Code and other editors run. Its tests need that server;
// `make test-editor` installs it. One test checks the schema without a server.
package editor
