// Package webui drives Temporal's real Web UI, and the pages of `armature ui`, in a real
// browser: what people on call see of Armature is a promise like any other. Its tests need
// Chromium; `make test-webui` installs it where it is missing. `make screenshots` keeps
// the pictures that the tests take, for README and docs.
package webui
