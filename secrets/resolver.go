package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
)

// maxFileBytes bounds one secret: far above any key or certificate.
const maxFileBytes = 64 * 1024

// Options are the allow-lists. The zero value allows nothing.
type Options struct {
	// EnvPrefix begins the environment variables that manifests may name; ""
	// allows none. The config's default is ARMATURE_SECRET_.
	EnvPrefix string
	// Dir is the one folder whose files manifests may name; "" allows none.
	Dir string
	// Vault reads secrets of key vaults; nil allows none.
	Vault Vault
}

// Vault reads a secret of a key vault with the credential of the context's
// resource (arm.Client). Kept allows a value of before, for those who only
// compare or mask. An error that has NotAllowed() true is one that only a change
// of the manifest or of the worker's config mends.
type Vault interface {
	Secret(ctx context.Context, secret resource.VaultSecret, kept bool) (string, error)
}

// Resolver resolves $secret references. It keeps no value: a rotated secret is
// taken at the next PUT.
type Resolver struct {
	options Options
}

// New makes a resolver.
func New(options Options) *Resolver { return &Resolver{options: options} }

// Error is a reference that could not be resolved. Its text names the reference
// and never a value.
type Error struct {
	// Reason is resource.ReasonSecretNotFound.
	Reason resource.Reason
	// Reference is as the manifest writes it, for example env:NAME.
	Reference string
	// NotAllowed tells a reference outside the allow-lists, which only a change
	// of the manifest or of the worker's config mends, from a secret that is
	// missing or empty and may still come.
	NotAllowed bool
	message    string
}

// Error says what is wrong and what to do.
func (e *Error) Error() string { return fmt.Sprintf("resolve $secret %s: %s", e.Reference, e.message) }

func missing(reference, format string, args ...any) error {
	return &Error{Reason: resource.ReasonSecretNotFound, Reference: reference, message: fmt.Sprintf(format, args...)}
}

func refused(reference, format string, args ...any) error {
	return &Error{Reason: resource.ReasonSecretNotFound, Reference: reference, NotAllowed: true, message: fmt.Sprintf(format, args...)}
}

// Resolve replaces every {"$secret": "env:NAME"} and {"$secret": "file:NAME"} on
// a copy of the body and answers the values too, by reference. The error is an
// *Error, or the context's. Only activities call it: the PUT to write the values,
// reads and polls to keep them out of what ARM sends back.
func (r *Resolver) Resolve(ctx context.Context, body map[string]any) (resolved map[string]any, values map[string]string, err error) {
	walk := &resolution{resolver: r, known: map[string]string{}}
	value, err := walk.value(ctx, body)
	if err != nil {
		return nil, nil, err
	}
	resolved, isObject := value.(map[string]any)
	if !isObject {
		return nil, nil, refused("of the body", "a whole body cannot be a secret")
	}
	return resolved, walk.known, nil
}

// resolution is the state of one Resolve; a reference that stands twice is read
// once, so that both places get one value.
type resolution struct {
	resolver *Resolver
	known    map[string]string
}

func (w *resolution) value(ctx context.Context, value any) (any, error) {
	switch at := value.(type) {
	case map[string]any:
		if marker, found := at[resource.SecretMarker]; found {
			return w.marker(ctx, at, marker)
		}
		object := make(map[string]any, len(at))
		for name, property := range at {
			resolved, err := w.value(ctx, property)
			if err != nil {
				return nil, err
			}
			object[name] = resolved
		}
		return object, nil
	case []any:
		list := make([]any, len(at))
		for i, item := range at {
			resolved, err := w.value(ctx, item)
			if err != nil {
				return nil, err
			}
			list[i] = resolved
		}
		return list, nil
	}
	return value, nil
}

func (w *resolution) marker(ctx context.Context, object map[string]any, marker any) (any, error) {
	reference, isText := marker.(string)
	if !isText || len(object) != 1 {
		return nil, refused("of the body", "it is not of the form {%q: \"env:NAME\"}", resource.SecretMarker)
	}
	if value, found := w.known[reference]; found {
		return value, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("resolve $secret: %w", err)
	}
	value, err := w.resolver.read(ctx, reference, false)
	if err != nil {
		return nil, err
	}
	w.known[reference] = value
	return value, nil
}

func (r *Resolver) read(ctx context.Context, reference string, kept bool) (string, error) {
	source, name, _ := strings.Cut(reference, ":")
	value, err := "", error(nil)
	switch source {
	case "env":
		value, err = r.environment(reference, name)
	case "file":
		value, err = r.file(reference, name)
	case "keyvault":
		value, err = r.vault(ctx, reference, kept)
	default:
		// The reference may be a secret that somebody wrote here: it is not shown.
		return "", refused("of the body", "it names no source; write env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME")
	}
	switch {
	case err != nil:
		return "", err
	case value == "":
		return "", missing(reference, "it is empty; set it for the worker")
	case !utf8.ValidString(value):
		return "", missing(reference, "it is not UTF-8 text, which JSON cannot hold; store it encoded, in base64 for example")
	}
	return value, nil
}

func (r *Resolver) environment(reference, name string) (string, error) {
	prefix := r.options.EnvPrefix
	switch {
	case prefix == "":
		return "", refused(reference, "the worker's config allows no environment variables; set secrets.env-prefix")
	case !strings.HasPrefix(name, prefix) || name == prefix:
		return "", refused(reference, "the worker's config allows only variables that begin with %s; rename the variable or change secrets.env-prefix", prefix)
	}
	value, found := os.LookupEnv(name)
	if !found {
		return "", missing(reference, "the worker has no such environment variable; set it and restart the worker")
	}
	return value, nil
}

// file reads a file below Dir. os.Root holds every step of the way inside the
// folder, symbolic links too (a mounted Kubernetes secret has them inside).
func (r *Resolver) file(reference, name string) (string, error) {
	switch {
	case r.options.Dir == "":
		return "", refused(reference, "the worker's config allows no files; set secrets.dir")
	case !filepath.IsLocal(name):
		return "", refused(reference, "the worker's config allows only files inside secrets.dir; write a relative path without ..")
	}
	root, err := os.OpenRoot(r.options.Dir)
	if err != nil {
		return "", missing(reference, "the folder secrets.dir cannot be opened: %v", cause(err))
	}
	defer root.Close()
	// A look first: opening a named pipe would wait for its writer.
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", missing(reference, "there is no such file in secrets.dir")
	case err != nil:
		return "", refused(reference, "the file cannot be reached inside secrets.dir: %v", cause(err))
	case !info.Mode().IsRegular():
		return "", refused(reference, "it is no regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return "", missing(reference, "the file cannot be opened: %v", cause(err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return "", missing(reference, "the file cannot be read: %v", cause(err))
	case len(data) > maxFileBytes:
		return "", missing(reference, "the file is larger than %d bytes", maxFileBytes)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

// cause is a file error without the path: the worker's folders are not for
// histories.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
