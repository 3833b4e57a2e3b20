// Package service assembles the layers into a Temporal worker and keeps it up:
// configuration, clients, metrics, health, logs. It holds no decision about a
// resource. A worker of your own is a main function that calls [Main] with more
// entries for the registry.
package service
