package temporaldev

import (
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// fileLogger writes the server's warnings and errors to a file instead of the terminal;
// a healthy server logs some too.
func fileLogger(path string) (log.Logger, error) {
	// The builder below ignores its errors, so open the file first.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log of the temporal server: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("open log of the temporal server: %w", err)
	}
	logger := log.BuildZapLogger(log.Config{Level: "warn", OutputFile: path})
	return log.NewZapLogger(logger.WithOptions(zap.Hooks(reportFatal(path, os.Stderr)))), nil
}

// reportFatal prints fatal log entries to the terminal, because the server ends the
// process with them.
func reportFatal(path string, terminal io.Writer) func(zapcore.Entry) error {
	return func(entry zapcore.Entry) error {
		if entry.Level != zapcore.FatalLevel {
			return nil
		}
		_, err := fmt.Fprintf(terminal, "the embedded Temporal server ends the process: %s; its log is %s\n", entry.Message, path)
		return err
	}
}
