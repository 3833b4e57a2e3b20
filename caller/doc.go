// Package caller owns the identity of those that send requests: it verifies OpenID Connect
// tokens by the keys that their issuer publishes, and decides by claims which subjects are
// allowed. The codec server and the pages of armature ui for a team use it, and workers of
// embedders that authorize messages may.
//
// The package must not know what a request asks for, and imports no other room of
// Armature.
package caller
