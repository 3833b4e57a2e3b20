// Package convert writes manifests from the files of other tools: snapshots of Bicep,
// configurations and states of Terraform with the provider azapi, manifests of Azure
// Service Operator, and texts that contain resource IDs. It is pure: the same files give
// the same manifests, and it reads neither Temporal nor Azure.
//
// Each source has a file of its own that reads it into resources (Resource). What is
// common follows: secrets become placeholders, IDs of resources of the same conversion
// become references, and the result is read back before it is returned.
package convert
