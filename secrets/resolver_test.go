package secrets

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// folder is a folder of secrets beside a file that must stay out of reach.
func folder(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "secrets")
	files := map[string]string{
		"outside": "out-of-reach", "secrets/password": "from-file\n", "secrets/windows": "from-windows\r\n",
		"secrets/two": "line1\nline2\n\n", "secrets/empty": "\n", "secrets/binary": "\xff\xfe",
		"secrets/..data/mounted": "from-mount\n", "secrets/large": strings.Repeat("x", maxFileBytes+1),
	}
	for name, content := range files {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"mounted": "..data/mounted", "leaving": "../outside", "absolute": filepath.Join(base, "outside")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResolve(t *testing.T) {
	t.Setenv("ARMATURE_SECRET_A", "from-env")
	t.Setenv("ARMATURE_SECRET_EMPTY", "")
	t.Setenv("AZURE_CLIENT_SECRET", "workers-own")
	allowed := Options{EnvPrefix: "ARMATURE_SECRET_", Dir: folder(t)}
	type want struct {
		value      string
		message    string
		notAllowed bool
	}
	cases := map[string]struct {
		reason    string
		options   *Options
		reference string
		want      want
	}{
		"Env":         {reason: "a variable with the prefix is resolved", reference: "env:ARMATURE_SECRET_A", want: want{value: "from-env"}},
		"File":        {reason: "the trailing newline of a file is no part of it", reference: "file:password", want: want{value: "from-file"}},
		"Windows":     {reason: "nor is that of Windows", reference: "file:windows", want: want{value: "from-windows"}},
		"InnerLines":  {reason: "only one newline is taken away", reference: "file:two", want: want{value: "line1\nline2\n"}},
		"MountedLink": {reason: "Kubernetes mounts secrets as links inside the folder", reference: "file:mounted", want: want{value: "from-mount"}},
		"Subfolder":   {reason: "a folder below is inside", reference: "file:..data/mounted", want: want{value: "from-mount"}},

		"EnvMissing":    {reason: "it may come with the next restart", reference: "env:ARMATURE_SECRET_B", want: want{message: "the worker has no such environment variable; set it and restart the worker"}},
		"EnvEmpty":      {reason: "an empty password is a mistake", reference: "env:ARMATURE_SECRET_EMPTY", want: want{message: "it is empty; set it for the worker"}},
		"FileMissing":   {reason: "it may be mounted later", reference: "file:nothing", want: want{message: "no such file in secrets.dir"}},
		"FileEmpty":     {reason: "a file with only a newline is empty", reference: "file:empty", want: want{message: "it is empty; set it for the worker"}},
		"FileBinary":    {reason: "JSON would change it silently", reference: "file:binary", want: want{message: "it is not UTF-8 text, which JSON requires; store it encoded, for example in base64"}},
		"FileLarge":     {reason: "reading is bounded", reference: "file:large", want: want{message: "the file is larger than 65536 bytes"}},
		"EnvOwn":        {reason: "a manifest must not publish the worker's credentials", reference: "env:AZURE_CLIENT_SECRET", want: want{notAllowed: true, message: "the worker's config allows only variables that begin with ARMATURE_SECRET_; rename the variable or change secrets.env-prefix"}},
		"EnvPrefixOnly": {reason: "the prefix alone is not a name", reference: "env:ARMATURE_SECRET_", want: want{notAllowed: true, message: "the worker's config allows only variables that begin with ARMATURE_SECRET_; rename the variable or change secrets.env-prefix"}},
		"EnvOff":        {reason: "the zero value allows nothing", options: &Options{}, reference: "env:ARMATURE_SECRET_A", want: want{notAllowed: true, message: "the worker's config allows no environment variables; set secrets.env-prefix"}},
		"FileOff":       {reason: "the zero value allows nothing", options: &Options{}, reference: "file:password", want: want{notAllowed: true, message: "the worker's config allows no files; set secrets.dir"}},
		"Traversal":     {reason: "dots point outside the folder", reference: "file:../outside", want: want{notAllowed: true, message: "the worker's config allows only files inside secrets.dir; write a relative path without .."}},
		"Absolute":      {reason: "so does an absolute path", reference: "file:/etc/passwd", want: want{notAllowed: true, message: "the worker's config allows only files inside secrets.dir; write a relative path without .."}},
		"LinkLeaving":   {reason: "and a link", reference: "file:leaving", want: want{notAllowed: true, message: "cannot reach the file inside secrets.dir: path escapes from parent"}},
		"LinkAbsolute":  {reason: "and an absolute link", reference: "file:absolute", want: want{notAllowed: true, message: "cannot reach the file inside secrets.dir: path escapes from parent"}},
		"Folder":        {reason: "a folder is not a secret", reference: "file:..data", want: want{notAllowed: true, message: "it is not a regular file"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			options := allowed
			if tc.options != nil {
				options = *tc.options
			}
			body := map[string]any{"properties": map[string]any{"list": []any{map[string]any{resource.SecretMarker: tc.reference}}}}
			resolved, values, err := New(options).Resolve(context.Background(), body)
			if tc.want.message != "" {
				var failure *Error
				if !errors.As(err, &failure) {
					t.Fatalf("\n%s\nerror is %v, want an *Error", tc.reason, err)
				}
				wantText := "resolve $secret " + tc.reference + ": " + tc.want.message
				if failure.Error() != wantText || failure.NotAllowed != tc.want.notAllowed || failure.Reason != resource.ReasonSecretNotFound {
					t.Errorf("\n%s\n got %q, not allowed %v, %s\nwant %q, %v", tc.reason, failure, failure.NotAllowed, failure.Reason, wantText, tc.want.notAllowed)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\n%v", tc.reason, err)
			}
			want := map[string]any{"properties": map[string]any{"list": []any{tc.want.value}}}
			if diff := cmp.Diff(want, resolved); diff != "" {
				t.Errorf("\n%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(map[string]string{tc.reference: tc.want.value}, values); diff != "" {
				t.Errorf("\n%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResolveCopies(t *testing.T) {
	t.Setenv("ARMATURE_SECRET_A", "from-env")
	marker := map[string]any{resource.SecretMarker: "env:ARMATURE_SECRET_A"}
	body := map[string]any{"a": marker, "b": []any{marker, json.Number("1.0"), nil, true}, "c": map[string]any{}}
	before, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resolved, values, err := New(Options{EnvPrefix: "ARMATURE_SECRET_"}).Resolve(context.Background(), body)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": "from-env", "b": []any{"from-env", json.Number("1.0"), nil, true}, "c": map[string]any{}}
	if diff := cmp.Diff(want, resolved); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(values) != 1 {
		t.Errorf("a value that occurs twice was returned %d times", len(values))
	}
	after, err := json.Marshal(body)
	if err != nil || string(after) != string(before) {
		t.Errorf("the body changed to %s (%v)", after, err)
	}
}

func TestResolveRefusesMalformed(t *testing.T) {
	cases := map[string]struct {
		reason string
		marker map[string]any
	}{
		"NoText":   {reason: "the value of a marker is a text", marker: map[string]any{resource.SecretMarker: json.Number("1")}},
		"Beside":   {reason: "other properties would be lost", marker: map[string]any{resource.SecretMarker: "env:A", "x": "y"}},
		"NoSource": {reason: "the text may be the secret itself, so it is not repeated", marker: map[string]any{resource.SecretMarker: "hunter22"}},
		"Unknown":  {reason: "an unsupported source", marker: map[string]any{resource.SecretMarker: "keyvault:https://hunter22"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, values, err := New(Options{EnvPrefix: "A"}).Resolve(context.Background(), map[string]any{"a": tc.marker})
			var failure *Error
			if !errors.As(err, &failure) || !failure.NotAllowed || len(values) != 0 {
				t.Fatalf("\n%s\ngot %v, %v", tc.reason, values, err)
			}
			if strings.Contains(err.Error(), "hunter22") {
				t.Errorf("\n%s\nthe error shows it: %v", tc.reason, err)
			}
		})
	}
	if _, _, err := New(Options{}).Resolve(context.Background(), map[string]any{resource.SecretMarker: "env:A"}); err == nil {
		t.Error("a body that is a marker was accepted")
	}
}

func TestResolveCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	body := map[string]any{"a": map[string]any{resource.SecretMarker: "env:A"}}
	if _, _, err := New(Options{EnvPrefix: "A"}).Resolve(ctx, body); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the context's error", err)
	}
}
