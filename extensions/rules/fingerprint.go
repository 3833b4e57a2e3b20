package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// fingerprint returns a hash of the rules of valid files, in their order.
func fingerprint(files []*file) string {
	sum := sha256.New()
	for _, f := range files {
		for _, rule := range f.rules {
			writeNode(sum, rule.node)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// writeNode writes the values of a node, without comments, style and position.
func writeNode(to io.Writer, node *yaml.Node) {
	fmt.Fprintf(to, "%d %s %d:%s %d\n", node.Kind, node.ShortTag(), len(node.Value), node.Value, len(node.Content))
	for _, child := range node.Content {
		writeNode(to, child)
	}
}
