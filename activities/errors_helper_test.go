package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
)

// TestHelperErrorsAreNamed checks that the error of a request which only a decision needs does
// not look like one of the resource or of its manifest.
func TestHelperErrorsAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := func(err error) error { return fmt.Errorf("list the locks at %s: %w", groupText, err) }
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"answer":   {"the request and ARM's answer are named", list(&arm.Error{Status: 500, Code: "Internal", Message: "unsupported api-version"}), "its locks are not known: list the locks at " + groupText + ": 500 Internal: unsupported api-version"},
		"no code":  {"the name of the status stands for it", list(&arm.Error{Status: 404}), ": 404 Not Found: "},
		"network":  {"there is no answer", errors.New("connection reset"), "its locks are not known: ARM cannot be reached: connection reset"},
		"too late": {"there is no answer", list(context.DeadlineExceeded), "its locks are not known: ARM did not answer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := w.acts.errorVerdict(t.Context(), id(t, groupText), "2021-04-01", helper("its locks are not known", c.err))
			if !strings.Contains(verdict.Message, c.want) {
				t.Errorf("%s: %q, want %q", c.reason, verdict.Message, c.want)
			}
		})
	}
	if helper("it is not known", nil) != nil {
		t.Error("no error became one")
	}
}
