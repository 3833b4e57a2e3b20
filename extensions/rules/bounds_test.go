package rules_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// nested returns an expression in which each level contains the one before twice.
func nested(levels int, level, innermost string) string {
	text := innermost
	for range levels {
		text = fmt.Sprintf("[%s].map(x, %s)[0]", text, level)
	}
	return text
}

// TestCostIsBounded evaluates expressions of some hundred bytes that would take gigabytes or
// minutes.
//
//guard:bounds-of-rules
func TestCostIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes the time and memory that the bounds allow; test-product checks them")
	}
	cases := map[string]struct{ reason, when, want string }{
		"quote": {
			"each level doubles the backslashes", strings.Repeat("quote(", 40) + `"\""` + strings.Repeat(")", 40) + ` == ""`,
			"cost limit",
		},
		"format": {"each level has its argument twice", nested(40, `"%s%s".format([x, x])`, `"0123456789"`) + ` == ""`, "format: over the cost limit"},
		"addition": {
			"the same by addition", nested(40, `x + x`, `"0123456789"`) + ` == ""`,
			"+: over the cost limit",
		},
		"replace": {
			"the product of two texts of 32 KB",
			`[` + nested(12, `x + x`, `"0123456789"`) + `].map(y, y.replace("0", y))[0] == ""`, "replace: over the cost limit",
		},
		"replace all": {"each character becomes ten", nested(12, `x.replace("a", "aaaaaaaaaa")`, `"a"`) + ` == ""`, "replace: over the cost limit"},
		"list": {
			"a list of a trillion items takes no memory until it is read",
			nested(40, `x + x`, `["a", "b"]`) + `.join("") == ""`, "+: over the cost limit",
		},
		"join": {
			"a list of 65,536 items and a separator",
			`[` + nested(15, `x + x`, `["a", "b"]`) + `].map(y, y.join("a long separator"))[0] == ""`, "join: over the cost limit",
		},
		"tree quoted":   {"a tree of a trillion leaves, each level of two", `quote(` + nested(40, `[x, x]`, `"a"`) + `) == ""`, "cost limit"},
		"tree compared": {"two such trees", nested(40, `[x, x]`, `"a"`) + ` == ` + nested(40, `[x, x]`, `"a"`), "cost limit"},
		"tree differs":  {"two such trees", nested(40, `[x, x]`, `"a"`) + ` != ` + nested(40, `[x, x]`, `"a"`), "cost limit"},
		"tree searched": {"the list has one item, a tree", `dyn(` + nested(40, `[x, x]`, `"a"`) + `) in [dyn("b"), dyn(` + nested(40, `[x, x]`, `"a"`) + `)]`, "cost limit"},
		"tree in a message": {
			"the condition is true", "true", "block [over 65536 bytes]",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			message := "it holds"
			if c.when == "true" {
				message = "${" + nested(40, `[x, x]`, `"a"`) + "}"
			}
			set := load(t, one("at: pre", "when: |-", "  "+c.when, "block: |-", "  "+message))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, `{}`)})
			runtime.ReadMemStats(&after)
			if text := string(got.Action) + " " + got.Message; !strings.Contains(strings.ToLower(text), c.want) {
				t.Errorf("%s: got %s, want %q", c.reason, text, c.want)
			}
			if took, used := time.Since(start), after.TotalAlloc-before.TotalAlloc; took > time.Minute || used > 256<<20 { // the race detector makes it ten times slower
				t.Errorf("%s: took %s and %d MB", c.reason, took, used>>20)
			}
		})
	}
}

// TestBoundsAllowHonestRules evaluates what a rule reads of a large body.
func TestBoundsAllowHonestRules(t *testing.T) {
	var items []string
	for i := range 5000 {
		items = append(items, fmt.Sprintf(`{"name":"item%d","state":"Running"}`, i))
	}
	observed := `{"properties":{"text":"` + strings.Repeat("long ", 20_000) + `","list":[` + strings.Join(items, ",") + `]}}`
	for _, when := range []string{
		`observed != null && observed.properties.list != null`,
		`has(observed.properties.text) && observed.properties.text.contains("g l")`,
		`items(observed.properties.list).exists(i, i.name == "item4999" && !broken(i.state))`,
		`size(observed.properties.list) == 5000 && observed.properties.list == observed.properties.list`,
		`"a,b".split(",").map(x, x.replace("a", "c") + "!").join("-") == "c!-b!"`,
		`"%s has %d".format(["x", 3]) == "x has 3" && quote(3) == "\"3\"" && lower("ABC") == "abc"`,
		`1 + 2 == 3 && [1] + [2] == [1, 2] && 1 in [1, 2] && "x" in {"x": 1} && string(3) + "a" == "3a"`,
		`"abc".matches("^a.c$") && "abc".indexOf("c") == 2 && b"a" + b"b" == b"ab" && duration("1s") + duration("2s") == duration("3s")`,
	} {
		set := load(t, one("at: pre", "when: |-", "  "+when, "block: it holds"))
		got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, observed)})
		if got.Action != resource.ActionBlock || got.Message != "it holds" {
			t.Errorf("%s: got %s %s", when, got.Action, got.Message)
		}
	}
}
