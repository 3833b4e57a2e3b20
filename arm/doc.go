// Package arm speaks the protocol of Azure Resource Manager: GET, PUT, DELETE
// and list of any resource ID, long-running operations one poll at a time, the
// shapes of errors and what they mean, credentials and clouds.
//
// It decides nothing about a resource and never waits or tries again: there is
// one retry layer and it is the workflow's. It must not know Temporal,
// extensions or manifests.
//
// Sources of the rules are the resource provider contract (async operations,
// addendum), the pages of learn.microsoft.com about asynchronous operations,
// request limits and common errors, and recorded traffic.
package arm
