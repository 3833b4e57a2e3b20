package extensiontest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

// failing records the first fatal failure instead of ending the test.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

// fatal returns the text of the fatal failure of a function, "" for none.
func fatal(t *testing.T, run func(testing.TB)) (text string) {
	t.Helper()
	f := &failing{TB: t}
	defer func() {
		if value := recover(); value != nil && value != f {
			panic(value)
		}
		text = f.text
	}()
	run(f)
	return ""
}

func TestRecorded(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   extensiontest.Recording
		fails  string
	}{
		"a body": {
			reason: "the response of a GET is taken as it is, with its digits", files: map[string]string{"a.json": `{"id": "` + peerText + `", "n": 1.50}`},
			want: extensiontest.Recording{peerText: `{"id": "` + peerText + `", "n": 1.50}`},
		},
		"a list and an array": {
			reason: "both are what the Azure CLI writes", files: map[string]string{
				"list.json": `{"value": [{"id": "` + peerText + `"}]}`, "deep/array.json": `[{"id": "` + childText + `"}]`, "notes.txt": "no JSON",
			},
			want: extensiontest.Recording{peerText: `{"id": "` + peerText + `"}`, childText: `{"id": "` + childText + `"}`},
		},
		"two states": {
			reason: "the choice between them would be arbitrary", fails: "is in",
			files: map[string]string{"a.json": `{"id": "` + peerText + `"}`, "b.json": `{"id": "` + strings.ToUpper(peerText) + `"}`},
		},
		"no folder entry": {reason: "a test without a body tests nothing", fails: "has no *.json", files: map[string]string{"a.yaml": "x"}},
		"no ID":           {reason: "the body cannot be found without one", fails: "it has no resource", files: map[string]string{"a.json": `{"name": "x"}`}},
		"a bad ID":        {reason: "some lists of the Azure CLI have no IDs", fails: "item 0", files: map[string]string{"a.json": `[{"name": "x"}]`}},
		"no JSON":         {reason: "the file is named", fails: "a.json: it is neither", files: map[string]string{"a.json": `<html>`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range tc.files {
				path := filepath.Join(folder, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var got extensiontest.Recording
			text := fatal(t, func(tb testing.TB) { got = extensiontest.Recorded(tb, folder) })
			if (tc.fails == "") != (text == "") || !strings.Contains(text, tc.fails) {
				t.Fatalf("failure %q, want %q: %s", text, tc.fails, tc.reason)
			}
			if diff := cmp.Diff(tc.want, got); tc.fails == "" && diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRecordingBody(t *testing.T) {
	recording := extensiontest.Recording{peerText: `{}`}
	if got := recording.Body(t, strings.ToLower(peerText)); got != `{}` {
		t.Errorf("body %q, want that of the ID in another case", got)
	}
	if text := fatal(t, func(tb testing.TB) { recording.Body(tb, childText) }); !strings.Contains(text, "there are "+peerText) {
		t.Errorf("failure %q does not name what was recorded", text)
	}
}

// TestDoublesRefuse holds that the doubles refuse what a worker's client refuses.
func TestDoublesRefuse(t *testing.T) {
	id := extensiontest.ID(t, peerText)
	client := &extensiontest.Client{Resources: map[string]string{peerText: `{}`}}
	resolver := &extensiontest.Resolver{Resources: client.Resources}
	calls := map[string]struct {
		reason string
		run    func() error
		fails  string
	}{
		"get": {reason: "it takes an api-version", fails: `get ` + peerText + `: invalid api-version ""`, run: func() error {
			_, err := client.Get(t.Context(), id, "")
			return err
		}},
		"get of nothing": {reason: "an empty ID is no URL", fails: "empty resource ID", run: func() error {
			_, err := client.Get(t.Context(), resource.ID{}, "2023-01-01")
			return err
		}},
		"find": {reason: "it takes an api-version", fails: "invalid api-version", run: func() error {
			_, err := client.Find(t.Context(), id, "things", "2023 01 01", "", 1)
			return err
		}},
		"post": {reason: "it takes an api-version", fails: "invalid api-version", run: func() error {
			_, err := client.Post(t.Context(), id, "start", "", nil)
			return err
		}},
		"resolve nothing": {reason: "a zero reference is a mistake, not an absent resource", fails: "empty resource ID", run: func() error {
			_, err := resolver.Resolve(t.Context(), resource.Reference{})
			return err
		}},
		"resolve without a version": {reason: "a worker takes the newest stable one", run: func() error {
			_, err := resolver.Resolve(t.Context(), resource.Reference{ID: id})
			return err
		}},
	}
	for name, tc := range calls {
		err := tc.run()
		if text := fmt.Sprint(err); (tc.fails == "") != (err == nil) || tc.fails != "" && !strings.Contains(text, tc.fails) {
			t.Errorf("%s: error %v, want %q: %s", name, err, tc.fails, tc.reason)
		}
	}
}
