// Package payload owns the one data converter of Armature: how a value of a
// workflow or an activity becomes bytes in a Temporal history and back. Worker,
// CLI, replayer and codec server share it, because each of them must read the
// histories that the others write.
//
// Small payloads stay plain JSON, so that decisions are readable in the Temporal
// Web UI. Payloads over [Threshold] (mostly bodies of resources) are compressed
// with zstd, and the codec server decompresses them for the Web UI.
//
// The package must not know resources, and imports no other package of Armature.
package payload

import "go.temporal.io/sdk/converter"

// DataConverter returns the converter that every Temporal client and worker of
// Armature uses: the SDK's default (JSON) behind [Codec].
func DataConverter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), Codec())
}
