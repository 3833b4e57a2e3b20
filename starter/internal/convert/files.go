package convert

import (
	"errors"
	"os"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// WriteNew writes a new file, and creates its folder.
func WriteNew(folder, path, text string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return cli.Failed("create the folder: %w", err)
	}
	// O_EXCL fails for everything that exists, also for a link to nothing.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cli.Failed("write %s: %w; existing files are not overwritten", path, err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return cli.Failed("write %s: %w", path, err)
	}
	return nil
}

// maxFileName is the length of a file's name without its extension. File systems take
// 255 bytes.
const maxFileName = 200

// FileName returns type and names of a resource in characters that every file system
// accepts.
func FileName(id resource.ID) string {
	return SafeName(cli.Kind(id)+"-"+id.Short(), "resource")
}

// SafeName returns a text in lower case and in characters that every file system accepts,
// or otherwise if none of them is one.
func SafeName(text, otherwise string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(text)), "-")
	if name == "" {
		name = otherwise
	}
	return name[:min(len(name), maxFileName)]
}
