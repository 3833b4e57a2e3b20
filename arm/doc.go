// Package arm implements the protocol of Azure Resource Manager: GET, PUT, DELETE
// and list of any resource ID, long-running operations one poll at a time, error
// bodies and their classification, credentials and clouds.
//
// It decides nothing about a resource, never waits for an operation and never
// retries: the workflow is the only retry layer. It must not know Temporal,
// extensions or manifests.
//
// Files share a prefix by subject: error_ (classification), operation_ (writes and
// polls), auth_ (clouds, credentials, tokens), throttle_ (request budgets), vault_
// (secrets of key vaults).
//
// The rules come from the resource provider contract (async operations, addendum),
// from learn.microsoft.com (asynchronous operations, request limits, common errors)
// and from recorded traffic.
package arm
