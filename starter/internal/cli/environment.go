package cli

import (
	"strings"
)

// Environment is a list of environment variables as os.Environ returns it.
type Environment []string

// Environ returns the variables as "name=value".
func (e Environment) Environ() []string { return e }

// LookupEnv returns the value of a variable and whether it is set. The last setting
// wins, as in a shell.
func (e Environment) LookupEnv(name string) (string, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if key, value, found := strings.Cut(e[i], "="); found && key == name {
			return value, true
		}
	}
	return "", false
}
