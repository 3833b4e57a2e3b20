// Package azuretypes has what Microsoft publishes about all Azure resource types, as one
// packed file. It contains the bytes and nothing that reads them: package types and the
// simulator (armsim/published) each have a reader of their own, so that a mistake of one
// reader does not look like agreement.
//
// dev/published generates azure-types.bin from bicep-types-az (MIT, see NOTICE).
//
// # Format
//
// The file is the text "ARMATURE-TYPES-1\n", the length of the directory, the directory, and
// one frame for each resource provider. Directory and frames are compressed with zstd. All
// numbers are unsigned varints, except bounds, which are signed.
//
// Each decompressed part begins with its table of texts: their number, the length of all of
// them together, the length of each, and the texts. After that, a text is its position in the
// table, and a list is preceded by its length.
//
// The directory has
//
//   - the providers: name, and length of the frame;
//   - the types, sorted by key: the name in lower case, the name as published, the position of
//     the provider, and the versions in ascending order, each with its name, 1 if a PUT can
//     create the type in it, and its position among the resources of the frame.
//
// A frame has
//
//   - the nodes: a kind, a set of bits, the bounds that the bits announce, and the fields of the
//     kind. A node is named by its position; a node may contain itself.
//   - the resources: type, version, node of the body, the scopes in which it can be read and
//     those in which it can be written (0: a PUT cannot create it), and the actions, each with
//     its name, the node of its output, and 0, or 1 and the node of its input.
//
// Bits: 1 minimum, 2 maximum, 4 pattern (a text), 8 secret, 16 additional properties.
//
//	kind             fields
//	0 any
//	1 boolean
//	2 text
//	3 literal        the text
//	4 integer
//	5 list           node of the items
//	6 object         name, properties, node of additional properties if the bit is set
//	7 union          nodes
//	8 discriminated  name, properties of all variants, name of the discriminator, and the
//	                 variants, each with its value and its node
//
// Properties are sorted by name, each with its name, its flags and its node. Flags: 1 required,
// 2 read-only, 4 write-only, 8 set by the deployment, 16 identifier.
package azuretypes

import _ "embed" // of the packed file

//go:embed azure-types.bin
var packed []byte

// Packed returns the file. The caller must not change it.
func Packed() []byte { return packed }
