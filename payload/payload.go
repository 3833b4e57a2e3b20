// Package payload owns the one data converter of Armature: how a value of a
// workflow or an activity becomes bytes in a Temporal history and back. Worker,
// CLI, replayer and codec server all take it from here, for a history that one
// of them writes must be readable by the others.
//
// Small payloads stay plain JSON, so that decisions can be read in the Temporal
// Web UI as they are; payloads over [Threshold] (bodies of resources, mostly)
// are compressed with zstd, and the codec server makes them readable again.
//
// The package knows nothing of resources, and it imports nothing of ours.
package payload

import "go.temporal.io/sdk/converter"

// DataConverter returns the converter that every Temporal client and worker of
// Armature uses: the SDK's default (JSON) behind [Codec].
func DataConverter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), Codec())
}
