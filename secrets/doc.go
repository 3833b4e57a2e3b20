// Package secrets resolves $secret references at the moment of a PUT and masks
// secret values in ARM's responses. It owns the allow-lists and the masks. It must
// not know manifests, ARM clients or Temporal, and none of its errors contains a
// value.
//
// # Masks
//
// A mask is resource.MaskPrefix and 16 hex digits of HMAC-SHA-256(key, value).
// Equal values have equal masks under one key, so two observations can be compared
// without the values, and a mask that differs from the baseline means that the value
// changed. A mask never equals a desired value and reveals nothing about it: a
// comparison of desired and observed has to treat "masked and unchanged since the
// last PUT" as equal. All workers need the same key, else each change of worker
// looks like a change of all secrets.
//
// Without a key every mask is resource.MaskWithoutKey: a hash whose key is known would show
// a short secret to anyone who tries all of them. A change of a secret is not visible then.
package secrets
