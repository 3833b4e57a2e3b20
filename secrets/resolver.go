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

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// maxFileBytes bounds one secret; keys and certificates are far smaller.
const maxFileBytes = 64 * 1024

// Options are the allow-lists and the vaults. The zero value allows nothing.
type Options struct {
	// EnvPrefix is the prefix of the environment variables that manifests may name;
	// "" allows none. The config's default is ARMATURE_SECRET_.
	EnvPrefix string
	// Dir is the one folder of files that manifests may name; "" allows none.
	Dir string
	// Holder returns the name of the credential whose secrets the resource of the context
	// may use, "" for none. With it, Holders replace EnvPrefix and Dir.
	Holder func(ctx context.Context) string
	// Holders are the allow-lists of the names that Holder returns.
	Holders map[string]Allowed
	// Own are files and folders with secrets of the worker itself, which no manifest
	// reads, whatever link leads there.
	Own []string
	// Vault reads secrets of key vaults; nil allows none.
	Vault Vault
}

// Allowed is the allow-list of the resources of one credential.
type Allowed struct{ EnvPrefix, Dir string }

// Vault reads a secret of a key vault with the credential of the context's resource
// (arm.Client). With cached, an earlier value will do, for comparing and masking. An
// error with NotAllowed() true needs a change of the manifest or of the worker's
// config.
type Vault interface {
	Secret(ctx context.Context, secret resource.VaultSecret, cached bool) (string, error)
}

// Resolver resolves $secret references. It keeps no value: the next PUT uses a rotated
// secret.
type Resolver struct {
	options Options
}

// New returns a resolver.
func New(options Options) *Resolver { return &Resolver{options: options} }

// Error is a reference that could not be resolved. Its text names the reference
// and never a value.
type Error struct {
	// Reason is resource.ReasonSecretNotFound.
	Reason resource.Reason
	// Reference is the text of the manifest, for example env:NAME.
	Reference string
	// NotAllowed is set for a reference outside the allow-lists, which needs a change
	// of the manifest or of the worker's config, and unset for a secret that is missing
	// or empty and may still be created.
	NotAllowed bool
	message    string
}

// Error returns cause and remedy.
func (e *Error) Error() string { return fmt.Sprintf("resolve $secret %s: %s", e.Reference, e.message) }

// missing returns the error of a secret that may still be created.
func missing(reference, format string, args ...any) error {
	return &Error{Reason: resource.ReasonSecretNotFound, Reference: reference, message: fmt.Sprintf(format, args...)}
}

// notAllowed returns the error of a reference outside the allow-lists.
func notAllowed(reference, format string, args ...any) error {
	return &Error{Reason: resource.ReasonSecretNotFound, Reference: reference, NotAllowed: true, message: fmt.Sprintf(format, args...)}
}

// Resolve returns a copy of the body with the values of all {"$secret": "env:NAME"}
// and {"$secret": "file:NAME"}, and the values by reference. The error is an *Error,
// or the context's. Only activities call it: the PUT to write the values, reads and
// polls to mask them in ARM's responses.
func (r *Resolver) Resolve(ctx context.Context, body map[string]any) (resolved map[string]any, values map[string]string, err error) {
	values = map[string]string{}
	edited := jsontree.Edit(body, func(name string, value any) (any, jsontree.Next) {
		switch {
		case err != nil:
			return nil, jsontree.Done
		case resource.PublicProperty(name) && jsontree.Contains(value, isReference):
			err = notAllowed("of the body", "it is not allowed under %s, which is public; move it elsewhere", strings.ToLower(name))
			return nil, jsontree.Done
		case isReference(value):
			value, err = r.once(ctx, value, values)
			return value, jsontree.Done
		}
		return value, jsontree.Inside
	})
	if err != nil {
		return nil, nil, err
	}
	resolved, isObject := edited.(map[string]any)
	if !isObject {
		return nil, nil, notAllowed("of the body", "a whole body cannot be a secret")
	}
	return resolved, values, nil
}

// isReference reports whether a value is a {"$secret": ...} object.
func isReference(value any) bool {
	object, _ := value.(map[string]any)
	_, found := object[resource.SecretMarker]
	return found
}

// once returns the value of a {"$secret": ...} object. A repeated reference is read once, so
// that it has one value.
func (r *Resolver) once(ctx context.Context, value any, values map[string]string) (any, error) {
	object, _ := value.(map[string]any)
	reference, isText := object[resource.SecretMarker].(string)
	if !isText || len(object) != 1 {
		return nil, notAllowed("of the body", "it must have the form {%q: \"env:NAME\"}", resource.SecretMarker)
	}
	if value, found := values[reference]; found {
		return value, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("resolve $secret: %w", err)
	}
	read, err := r.read(ctx, reference, false)
	values[reference] = read
	return read, err
}

// read returns the value of a reference.
func (r *Resolver) read(ctx context.Context, reference string, cached bool) (string, error) {
	source, name, _ := strings.Cut(reference, ":")
	value, err := "", error(nil)
	switch source {
	case "env":
		value, err = r.environment(r.holderOf(ctx), reference, name)
	case "file":
		value, err = r.file(r.holderOf(ctx), reference, name)
	case "keyvault":
		value, err = r.vault(ctx, reference, cached)
	default:
		// The reference may be a misplaced secret, so it is not shown.
		return "", notAllowed("of the body", "unknown source; write env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME")
	}
	switch {
	case err != nil:
		return "", err
	case value == "":
		return "", missing(reference, "it is empty; set it for the worker")
	case !utf8.ValidString(value):
		return "", missing(reference, "it is not UTF-8 text, which JSON requires; store it encoded, for example in base64")
	}
	return value, nil
}

// environment reads env:NAME.
func (r *Resolver) environment(of holder, reference, name string) (string, error) {
	switch {
	case of.EnvPrefix == "":
		return "", notAllowed(reference, "the worker's config allows no environment variables%s; set %senv-prefix", of.resources, of.section)
	case !strings.HasPrefix(name, of.EnvPrefix) || name == of.EnvPrefix:
		return "", notAllowed(reference, "the worker's config allows only variables that begin with %s%s; rename the variable or change %senv-prefix",
			of.EnvPrefix, of.resources, of.section)
	}
	value, found := os.LookupEnv(name)
	if !found {
		return "", missing(reference, "the worker has no such environment variable; set it and restart the worker")
	}
	return value, nil
}

// file reads a file below Dir. os.Root keeps each step inside the folder, symbolic
// links too (a mounted Kubernetes secret has them inside).
func (r *Resolver) file(of holder, reference, name string) (string, error) {
	switch {
	case of.Dir == "":
		return "", notAllowed(reference, "the worker's config allows no files%s; set %sdir", of.resources, of.section)
	case !filepath.IsLocal(name):
		return "", notAllowed(reference, "the worker's config allows only files inside %sdir; write a relative path without ..", of.section)
	}
	root, err := os.OpenRoot(of.Dir)
	if err != nil {
		return "", missing(reference, "cannot open the folder %sdir: %v", of.section, causeWithoutPath(err))
	}
	defer root.Close()
	// Stat first: opening a named pipe would block until it has a writer.
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", missing(reference, "no such file in %sdir", of.section)
	case err != nil:
		return "", notAllowed(reference, "cannot reach the file inside %sdir: %v", of.section, causeWithoutPath(err))
	case !info.Mode().IsRegular():
		return "", notAllowed(reference, "it is not a regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return "", missing(reference, "cannot open the file: %v", causeWithoutPath(err))
	}
	defer file.Close()
	switch own, err := r.isOwn(file, filepath.Join(of.Dir, name)); {
	case err != nil:
		return "", missing(reference, "cannot read the file: %v", causeWithoutPath(err))
	case own:
		return "", notAllowed(reference, "it is a secret of the worker itself (a token, certificate or key); use another file")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return "", missing(reference, "cannot read the file: %v", causeWithoutPath(err))
	case len(data) > maxFileBytes:
		return "", missing(reference, "the file is larger than %d bytes", maxFileBytes)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

// causeWithoutPath returns the cause of a file error: the worker's folders must not
// appear in histories.
func causeWithoutPath(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return err
}
