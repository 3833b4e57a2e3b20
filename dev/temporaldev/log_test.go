package temporaldev

import (
	"strings"
	"testing"

	"go.uber.org/zap/zapcore"
)

// TestReportFatal checks that a fatal entry, and nothing else, is printed to the
// terminal.
func TestReportFatal(t *testing.T) {
	var terminal strings.Builder
	report := reportFatal("/folder/temporal.log", &terminal)
	for _, level := range []zapcore.Level{zapcore.WarnLevel, zapcore.ErrorLevel} {
		if err := report(zapcore.Entry{Level: level, Message: "the server continues"}); err != nil || terminal.Len() > 0 {
			t.Errorf("at %s the terminal output is %q, %v", level, terminal.String(), err)
		}
	}
	if err := report(zapcore.Entry{Level: zapcore.FatalLevel, Message: "no listener"}); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"no listener", "/folder/temporal.log"} {
		if !strings.Contains(terminal.String(), part) {
			t.Errorf("the terminal output is %q without %s", terminal.String(), part)
		}
	}
}
