package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Reference says where a secret is: env:NAME, file:PATH, or "" for nowhere. It
// is safe to log; a text of another form, which may be the secret itself, is
// not shown by String.
type Reference string

const (
	envScheme  = "env:"
	fileScheme = "file:"
)

// maxSecret is the largest secret that a file may hold, in bytes.
const maxSecret = 64 << 10

// String shows where the secret is, never what it is.
func (r Reference) String() string {
	if r == "" || r.variable() != "" || r.file() != "" {
		return string(r)
	}
	return "(not a reference)"
}

// GoString keeps %#v from showing what String hides.
func (r Reference) GoString() string { return fmt.Sprintf("config.Reference(%q)", r.String()) }

// MarshalText keeps a text that is no reference out of JSON, thus out of logs.
func (r Reference) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Read returns the secret, without the line break at its end. An unset
// reference is "". Errors name the place, never the value.
func (r Reference) Read() (string, error) {
	switch {
	case r == "":
		return "", nil
	case r.variable() != "":
		value := os.Getenv(r.variable())
		if value == "" {
			return "", fmt.Errorf("read %s: the variable is not set or empty", r)
		}
		return value, nil
	case r.file() != "":
		return readSecretFile(r.file())
	}
	return "", errNoReference
}

var errNoReference = errors.New("want env:NAME or file:PATH, never the secret itself")

func readSecretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if info.Size() > maxSecret {
		return "", fmt.Errorf("read secret: %s has %d bytes, more than %d", path, info.Size(), maxSecret)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	value := strings.TrimRight(string(data), "\r\n")
	if value == "" {
		return "", fmt.Errorf("read secret: %s is empty", path)
	}
	return value, nil
}

// variable is NAME of env:NAME, else "".
func (r Reference) variable() string {
	name, ok := strings.CutPrefix(string(r), envScheme)
	if !ok {
		return ""
	}
	return name
}

// file is PATH of file:PATH, else "".
func (r Reference) file() string {
	path, ok := strings.CutPrefix(string(r), fileScheme)
	if !ok {
		return ""
	}
	return path
}

// readableBy tells whether a manifest's $secret could name the same place: then
// anybody who may apply could publish this secret.
func (r Reference) readableBy(allowed Secrets) bool {
	if name := r.variable(); name != "" {
		return allowed.EnvPrefix != "" && strings.HasPrefix(name, allowed.EnvPrefix)
	}
	if path := r.file(); path != "" && allowed.Dir != "" {
		return within(path, allowed.Dir)
	}
	return false
}

// within tells whether path lies below dir, links followed where they exist.
func within(path, dir string) bool {
	relative, err := filepath.Rel(resolved(dir), resolved(path))
	return err == nil && filepath.IsLocal(relative)
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}
