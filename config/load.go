package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// ErrHelp is what Load returns when the arguments ask for help: print [Usage].
var ErrHelp = pflag.ErrHelp

// Load reads file, variables and flags (args without the program's name). The
// error holds every fault that could be found, one a line, or is [ErrHelp].
func Load(args []string) (Config, error) {
	flags := newFlags()
	var faults []error
	if err := flags.Parse(args); errors.Is(err, ErrHelp) {
		return Config{}, ErrHelp
	} else if err != nil {
		faults = append(faults, fmt.Errorf("read flags: %w; see `worker --help`", err))
	}
	if flags.NArg() > 0 {
		faults = append(faults, fmt.Errorf("read flags: unexpected argument %q; the worker takes flags only, see `worker --help`", flags.Arg(0)))
	}
	v := newViper()
	for _, k := range keys() {
		if err := v.BindPFlag(k.name, flags.Lookup(k.flag())); err != nil {
			faults = append(faults, fmt.Errorf("bind flag --%s: %w", k.flag(), err))
		}
	}
	faults = append(faults, readFile(v, flags)...)
	faults = append(faults, unknownVariables(v.GetString("secrets.env-prefix"))...)
	loaded, decodeFaults := decode(v)
	faults = append(faults, decodeFaults...)
	// What could not be decoded was told already; its zero value would be a
	// second fault of the same key.
	if len(decodeFaults) == 0 {
		faults = append(faults, loaded.faults()...)
	}
	return loaded, errors.Join(faults...)
}

// Usage describes every flag with its variable and default.
func Usage() string {
	return "Usage: worker [flags]        serve\n" +
		"       worker probe [flags]  ask a running worker whether it is ready (exit 0 or 1)\n" +
		"       worker codec [flags]  serve the payload codec for the Web UI (worker codec --help)\n\n" +
		"Serves the task queue of one Temporal namespace. The connection to Temporal is\n" +
		"configured by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and profiles.\n\n" +
		newFlags().FlagUsagesWrapped(100)
}

func newFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.SortFlags = false
	flags.String("config", "", "config file, yaml, toml or json ("+FileVariable+")")
	for _, k := range keys() {
		flags.String(k.flag(), k.initial, k.usage+" ("+k.variable()+")")
	}
	return flags
}

// newViper has every default set, without which viper ignores the variables of
// keys that the file does not name.
func newViper() *viper.Viper {
	v := viper.New()
	for _, k := range keys() {
		v.SetDefault(k.name, k.initial)
	}
	v.SetEnvPrefix(strings.TrimSuffix(envPrefix, "_"))
	v.SetEnvKeyReplacer(strings.NewReplacer(".", "_", "-", "_"))
	v.AllowEmptyEnv(true)
	v.AutomaticEnv()
	return v
}

// readFile reads the config file, if one is named, and names its unknown keys.
func readFile(v *viper.Viper, flags *pflag.FlagSet) []error {
	path := os.Getenv(FileVariable)
	if flag := flags.Lookup("config"); flag.Changed {
		path = flag.Value.String()
	}
	if path == "" {
		return nil
	}
	v.SetConfigFile(path)
	if err := v.ReadInConfig(); err != nil {
		return []error{fileFault(path, err)}
	}
	var faults []error
	known := Keys()
	found := v.AllKeys()
	sort.Strings(found)
	for _, name := range found {
		if !slices.Contains(known, name) && !named(name) {
			faults = append(faults, fmt.Errorf("read config file %s: unknown key %s%s", path, name, nearestKey(name, known)))
		}
	}
	return faults
}

// unknownVariables finds ARMATURE_* variables that set nothing: a misspelt one
// would otherwise be ignored in silence.
func unknownVariables(secretPrefix string) []error {
	known := Variables()
	var faults []error
	for _, assignment := range os.Environ() {
		name, _, _ := strings.Cut(assignment, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(known, name) {
			continue
		}
		if secretPrefix != "" && strings.HasPrefix(name, secretPrefix) {
			continue
		}
		faults = append(faults, fmt.Errorf("read environment: unknown variable %s%s", name, suggest(name, known)))
	}
	return faults
}

// decode turns the keys into a Config. Unknown keys are told by readFile, which
// knows the file; UnmarshalExact guards against a key of the table that no
// field takes, and against a section that is given as a plain value.
func decode(v *viper.Viper) (Config, []error) {
	var loaded Config
	known := Keys()
	exact := viper.New()
	for _, name := range v.AllKeys() {
		if slices.Contains(known, name) || named(name) {
			exact.Set(name, v.Get(name))
		}
	}
	err := exact.UnmarshalExact(&loaded, viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(decodeDuration, decodeList, decodeText)))
	if err != nil {
		return loaded, decodeFaults(err)
	}
	return loaded, nil
}

// decodeDuration refuses numbers, which would be nanoseconds.
func decodeDuration(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() {
		return value, nil
	}
	text, isText := value.(string)
	if !isText {
		return nil, fmt.Errorf("%v has no unit: write 30s, 5m or 1h", value)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no duration with a unit: write 30s, 5m or 1h", text)
	}
	return d, nil
}

// decodeList takes a text with commas for a list, as variables and flags give it.
func decodeList(_, to reflect.Type, value any) (any, error) {
	text, isText := value.(string)
	if !isText || to != reflect.TypeFor[[]string]() {
		return value, nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
}

// decodeText refuses a list or section where a text is due, and a number where
// it would silently become a text of another form (1e3, 0x10).
func decodeText(from, to reflect.Type, value any) (any, error) {
	if to.Kind() == reflect.String && from.Kind() != reflect.String {
		return nil, fmt.Errorf("%s is no text: %s", words(from.Kind()), quotes(from.Kind()))
	}
	return value, nil
}
