package arm

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAnswerIDs checks that a header with an ID brings no other text into an error.
func TestAnswerIDs(t *testing.T) {
	t.Parallel()
	for id, taken := range map[string]bool{
		"6f9619ff-8b86-4d01-b42d-00cf4fc964ff":                         true,
		"westeurope:20261129T101500Z:6f9619ff-8b86-4d01-b42d-00cf4fc9": true,
		"AccountKey=kJ3+x/Q9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP6iVoK1tRbMjW":  false,
		"two words":              false,
		strings.Repeat("a", 129): false,
		"":                       false,
	} {
		want := ""
		if taken {
			want = id
		}
		header := http.Header{headerRequestID: {id}}
		if got := newError(http.MethodPut, http.StatusBadRequest, header, nil, time.Now).RequestID; got != want {
			t.Errorf("the header %q became %q", id, got)
		}
	}
}
