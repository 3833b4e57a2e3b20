package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Reference is the location of a secret: env:NAME, file:PATH, or "" for none. It is
// safe to log: String hides a text of another form, which may be the secret itself.
type Reference string

const (
	envScheme  = "env:"
	fileScheme = "file:"
)

// maxSecretBytes is the maximum size of a secret file.
const maxSecretBytes = 64 << 10

// String returns the location of the secret, never the secret.
func (r Reference) String() string {
	if r == "" || r == MaskKeyNone || r.variable() != "" || r.file() != "" {
		return string(r)
	}
	return "(not a reference)"
}

// GoString returns the form for %#v, which hides the same as String.
func (r Reference) GoString() string { return fmt.Sprintf("config.Reference(%q)", r.String()) }

// MarshalText returns the result of String, for JSON and thus for logs.
func (r Reference) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Read returns the secret, without the line break at its end. An unset
// reference is "". Errors name the location, never the value.
func (r Reference) Read() (string, error) {
	switch {
	case r == "":
		return "", nil
	case r.variable() != "":
		value := os.Getenv(r.variable())
		if value == "" {
			return "", fmt.Errorf("read %s: variable not set or empty", r)
		}
		return value, nil
	case r.file() != "":
		return readSecretFile(r.file())
	}
	return "", errNoReference
}

var errNoReference = errors.New("must be env:NAME or file:PATH, never the secret itself")

// readSecretFile returns a file without the line breaks at its end.
func readSecretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if info.Size() > maxSecretBytes {
		return "", fmt.Errorf("read secret: %s has %d bytes, more than %d", path, info.Size(), maxSecretBytes)
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

// variable returns NAME of env:NAME, else "".
func (r Reference) variable() string { return r.after(envScheme) }

// file returns PATH of file:PATH, else "".
func (r Reference) file() string { return r.after(fileScheme) }

// after returns the text after a scheme, "" for another one.
func (r Reference) after(scheme string) string {
	rest, ok := strings.CutPrefix(string(r), scheme)
	if !ok {
		return ""
	}
	return rest
}

// readableBy reports whether a manifest's $secret could refer to the same location:
// then every user with the right to apply could publish this secret.
func (r Reference) readableBy(allowed Secrets) bool {
	if name := r.variable(); name != "" {
		return allowed.EnvPrefix != "" && strings.HasPrefix(name, allowed.EnvPrefix)
	}
	if path := r.file(); path != "" && allowed.Dir != "" {
		return within(path, allowed.Dir)
	}
	return false
}

// within reports whether path is below dir, after following existing links.
func within(path, dir string) bool {
	relative, err := filepath.Rel(resolveLinks(dir), resolveLinks(path))
	return err == nil && filepath.IsLocal(relative)
}

// resolveLinks returns the absolute path with existing links followed.
func resolveLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}
