package expression

import (
	"strings"
	"testing"
)

// TestExportText checks texts with values of a body and of an answer, and that no error shows a
// value.
func TestExportText(t *testing.T) {
	t.Parallel()
	body := map[string]any{"name": "acc", "properties": map[string]any{"host": "h.example", "port": 5432.0}}
	action := map[string]any{"key": "pl4nted-value", "encoded": "aGVsbG8=", "list": []any{map[string]any{"v": "x"}}}
	cases := map[string]struct {
		reason, text, want, part string
	}{
		"both":           {reason: "a connection string", text: "Server=${properties.host};Key=${action.key}", want: "Server=h.example;Key=pl4nted-value"},
		"list":           {reason: "an element by its index", text: "${action.list[0].v}", want: "x"},
		"base64":         {reason: "clusters list their credentials so", text: "${fromBase64(action.encoded)}", want: "hello"},
		"number":         {reason: "a port", text: "${properties.port}", want: "5432"},
		"absent":         {reason: "it is named", text: "a${action.other}", part: "${action.other} has no value"},
		"wrong kind":     {reason: "CEL would show the value", text: "${int(action.key)}", part: "${int(action.key)} failed"},
		"no base64":      {reason: "the value is not shown", text: "${fromBase64(action.key)}", part: "failed"},
		"object":         {reason: "a text is needed", text: "${action.list}", part: "needs a text"},
		"text of a text": {reason: "a value is no expression", text: "${action.key + '${name}'}", want: "pl4nted-value${name}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template, problems := NewExportText(tc.text)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got, err := template.FillExport(t.Context(), body, action)
			if got != tc.want || tc.part != "" && (err == nil || !strings.Contains(err.Error(), tc.part) || strings.Contains(err.Error(), "pl4nted")) {
				t.Errorf("%s: %q, %v", tc.reason, got, err)
			}
		})
	}
	if _, problems := NewExportText("${params.x}"); len(problems) == 0 {
		t.Error("a variable of another language is accepted")
	}
}
