package temporaldev

import (
	"fmt"
	"os"

	"go.temporal.io/server/common/log"
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
	return log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "warn", OutputFile: path})), nil
}

// silentLogger drops what the client says while it waits for the server.
type silentLogger struct{}

func (silentLogger) Debug(string, ...any) {}
func (silentLogger) Info(string, ...any)  {}
func (silentLogger) Warn(string, ...any)  {}
func (silentLogger) Error(string, ...any) {}
