package temporaldev

import (
	"strings"
	"testing"

	"go.uber.org/zap/zapcore"
)

// TestLastWords holds that the server's end is not a silent one, and that nothing
// else comes to the terminal.
func TestLastWords(t *testing.T) {
	var terminal strings.Builder
	tell := lastWords("/folder/temporal.log", &terminal)
	for _, level := range []zapcore.Level{zapcore.WarnLevel, zapcore.ErrorLevel} {
		if err := tell(zapcore.Entry{Level: level, Message: "it goes on"}); err != nil || terminal.Len() > 0 {
			t.Errorf("at %s the terminal shows %q, %v", level, terminal.String(), err)
		}
	}
	if err := tell(zapcore.Entry{Level: zapcore.FatalLevel, Message: "no listener"}); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"no listener", "/folder/temporal.log"} {
		if !strings.Contains(terminal.String(), part) {
			t.Errorf("the terminal shows %q without %s", terminal.String(), part)
		}
	}
}
