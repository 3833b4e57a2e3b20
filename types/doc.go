// Package types contains what Microsoft publishes about every Azure resource type and
// api-version: names, kinds, flags, allowed values and bounds. It finds the shape of a
// type, checks bodies against it, and lists its properties, children and actions. It
// must not know manifests, ARM or drift: a body is a decoded JSON object, and what a
// finding means for a command is the caller's decision.
//
// The data is the packed file of internal/azuretypes. One compressed frame per resource
// provider is decoded on demand and stays in memory: all 283 providers together take about 60 MB, usual ones under one.
package types
