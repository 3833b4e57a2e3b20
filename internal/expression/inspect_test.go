package expression_test

import (
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/internal/expression"
)

func compiled(t *testing.T, text string) expression.Expression {
	t.Helper()
	env, err := expression.NewEnv(cel.Variable("body", cel.DynType), cel.Variable("forced", cel.BoolType))
	if err != nil {
		t.Fatal(err)
	}
	made, problems := expression.Compile(env, text, nil)
	if len(problems) > 0 {
		t.Fatalf("%s: %v", text, problems)
	}
	return made
}

func TestConstant(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
	}{
		"literal":  {"nothing to evaluate", "true", "true"},
		"either":   {"one side decides", `true || body.x == 1`, "true"},
		"neither":  {"one side decides", `body.x == 1 && 1 > 2`, "false"},
		"variable": {"the variable decides", `body.x == null`, ""},
		"function": {"its argument is unknown", `state(body) == ""`, ""},
		"forced":   {"the variable decides", "!forced", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if value, constant := compiled(t, c.text).Constant(); constant {
				got = expression.Text(value)
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestSeen(t *testing.T) {
	vars := map[string]any{"forced": true, "body": expression.Value(map[string]any{"a": map[string]any{"b": "x<y"}, "l": []any{"1", "2"}})}
	got := compiled(t, `!forced || text(body, "a.b") == "z" && body.l[1] == "3" && body.l.exists(i, i == body.a.b) && size(body.c) == 2 && body.a != null`).Seen(t.Context(), vars)
	want := []string{
		`forced is true`, `text(body, "a.b") is "x<y"`, `body.l[1] is "2"`, `body.l is ["1","2"]`, `body.c is null`, `body.a is {"b":"x<y"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	long := compiled(t, "body.l").Seen(t.Context(), map[string]any{"body": expression.Value(map[string]any{"l": strings.Repeat("x", 1000)}), "forced": false})
	if len(long) != 1 || len(long[0]) > 200 {
		t.Errorf("a long value is cut: %v", long)
	}
}

func TestNative(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         any
	}{
		"nested": {"as JSON is decoded", `{"a": [1, 2.5, "x", null, true], 3: body.x}`, map[string]any{"a": []any{int64(1), 2.5, "x", nil, true}, "3": nil}},
		"body":   {"a part of a body is itself", `body.o`, map[string]any{"k": "v"}},
		"time":   {"JSON has none", `timestamp("2026-01-01T00:00:00Z")`, "a value of type Timestamp has no form in JSON; convert it with string()"},
		"no NaN": {"nor this", `0.0 / 0.0`, "NaN has no form in JSON"},
		"inside": {"also in a list", `[duration("1s")]`, "a value of type Duration has no form in JSON; convert it with string()"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			value, err := compiled(t, c.text).Eval(t.Context(), map[string]any{"body": expression.Value(map[string]any{"o": map[string]any{"k": "v"}}), "forced": false})
			if err != nil {
				t.Fatal(err)
			}
			got, err := expression.Native(value)
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

func TestCost(t *testing.T) {
	loop := compiled(t, "[1, 2, 3].all(a, [1, 2, 3].all(b, a + b > 0))")
	vars := map[string]any{"body": nil, "forced": false}
	cost, more := loop.Cost(t.Context(), vars, 1000)
	if cost == 0 || more {
		t.Errorf("got %d, %v", cost, more)
	}
	if cost, more := loop.Cost(t.Context(), vars, 10); cost != 10 || !more {
		t.Errorf("over the limit: got %d, %v", cost, more)
	}
}
