package temporaldev

import (
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// fileLogger keeps the server's warnings and errors out of the terminal; a
// healthy server writes some too.
func fileLogger(path string) (log.Logger, error) {
	// The builder below swallows its errors, so the file is opened here first.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log of the temporal server: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("open log of the temporal server: %w", err)
	}
	logger := log.BuildZapLogger(log.Config{Level: "warn", OutputFile: path})
	return log.NewZapLogger(logger.WithOptions(zap.Hooks(lastWords(path, os.Stderr)))), nil
}

// lastWords tells on the terminal why the server ends the process: it does so
// where it logs a fatal error.
func lastWords(path string, terminal io.Writer) func(zapcore.Entry) error {
	return func(entry zapcore.Entry) error {
		if entry.Level != zapcore.FatalLevel {
			return nil
		}
		_, err := fmt.Fprintf(terminal, "the embedded Temporal server ends the process: %s; its log is %s\n", entry.Message, path)
		return err
	}
}

// silentLogger drops what the client says while it waits for the server.
type silentLogger struct{}

func (silentLogger) Debug(string, ...any) {}
func (silentLogger) Info(string, ...any)  {}
func (silentLogger) Warn(string, ...any)  {}
func (silentLogger) Error(string, ...any) {}
