package resource

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecodeBody decodes one text after the other: the remainder of one must not
// affect the next.
func TestDecodeBody(t *testing.T) {
	t.Parallel()
	texts := []struct {
		reason, text string
		want         map[string]any
		// wantErr is part of the error, "" for none.
		wantErr string
	}{
		{reason: "exact numbers", text: `{"n":12345678901234567890,"m":1.0}`, want: map[string]any{"n": json.Number("12345678901234567890"), "m": json.Number("1.0")}},
		{reason: "absent", text: " \n"},
		{reason: "space around it", text: "\n {\"a\":[null]}\t\n", want: map[string]any{"a": []any{nil}}},
		{reason: "cut", text: `{"a":{"b":`, wantErr: "unexpected EOF"},
		{reason: "after a cut text", text: `{"c":"d"}`, want: map[string]any{"c": "d"}},
		{reason: "more than one", text: `{"a":1}{"b":2}`, wantErr: "text after the JSON object"},
		{reason: "text behind", text: `{"a":1} x`, wantErr: "text after the JSON object"},
		{reason: "after text behind", text: `{}`, want: map[string]any{}},
		{reason: "a list", text: `[1]`, wantErr: "cannot unmarshal array"},
		{reason: "after a list", text: `{"e":true}`, want: map[string]any{"e": true}},
		{reason: "a large one", text: `{"x":"` + strings.Repeat("y", 1<<20) + `"}`, want: map[string]any{"x": strings.Repeat("y", 1<<20)}},
		{reason: "a short text after it", text: `{"x":"y"}`, want: map[string]any{"x": "y"}},
	}
	for range 20 {
		for _, tc := range texts {
			got, err := DecodeBody([]byte(tc.text))
			switch {
			case tc.wantErr == "" && err != nil:
				t.Fatalf("%s: %v", tc.reason, err)
			case tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)):
				t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Fatalf("%s: -want +got\n%s", tc.reason, diff)
			}
		}
	}
}

// TestDecodeBodyIsIndependent checks that a body shares no memory with the text or
// with the buffer of the next decode.
func TestDecodeBodyIsIndependent(t *testing.T) {
	t.Parallel()
	text := []byte(`{"name":"first"}`)
	first, err := DecodeBody(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		text[i] = 'x'
	}
	for range 20 {
		if _, err := DecodeBody([]byte(`{"mane":"other"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]any{"name": "first"}, first); diff != "" {
		t.Error(diff)
	}
}
