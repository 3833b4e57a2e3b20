// Package service assembles the layers into a Temporal worker and keeps it running. It
// owns the configuration, clients, metrics, health, and logs of the process. It must not
// contain a decision about a resource. A custom worker is a main function that calls
// [Main] with more entries for the registry.
package service
