package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// ErrHelp is what Load returns when the arguments ask for help: print [Usage].
var ErrHelp = pflag.ErrHelp

// Load reads file, variables and flags (args without the program's name). The error
// contains every problem, one per line, or is [ErrHelp].
func Load(args []string) (Config, error) {
	flags := newFlags()
	var errs []error
	if err := flags.Parse(args); errors.Is(err, ErrHelp) {
		return Config{}, ErrHelp
	} else if err != nil {
		errs = append(errs, fmt.Errorf("read flags: %w; see `worker --help`", err))
	}
	if flags.NArg() > 0 {
		errs = append(errs, fmt.Errorf("read flags: unexpected argument %q; the worker takes flags only, see `worker --help`", flags.Arg(0)))
	}
	v := newViper()
	for _, k := range keys() {
		if err := v.BindPFlag(k.name, flags.Lookup(k.flag())); err != nil {
			errs = append(errs, fmt.Errorf("bind flag --%s: %w", k.flag(), err))
		}
	}
	errs = append(errs, readFile(v, flags)...)
	loaded, unreadable := decode(v)
	if loaded.separatesSecrets() && !isStated(v, flags, secretsKey+"env-prefix") {
		loaded.Secrets.EnvPrefix = ""
	}
	if os.Getenv(podVariable) != "" && !isStated(v, flags, listenKey) {
		loaded.HTTP.Listen = podListen
	}
	errs = append(errs, loaded.unknownVariables()...)
	// A key that cannot be decoded has its default: reported once, not again for that.
	var unreadableKeys []string
	for _, problem := range unreadable {
		unreadableKeys = append(unreadableKeys, problem.key)
	}
	errs = append(errs, unreadable.err(), loaded.problems().without(unreadableKeys).err())
	return loaded, errors.Join(errs...)
}

// Usage returns a description of all flags with variables and defaults.
func Usage() string {
	return "Usage: worker [flags]        serve\n" +
		"       worker probe [flags]  check that a running worker is ready (exit 0 or 1)\n" +
		"       worker replay [flags] replay histories against this version (worker replay --help)\n" +
		"       worker codec [flags]  serve the payload codec for the Web UI (worker codec --help)\n\n" +
		"Serves the task queue of one Temporal namespace. The connection to Temporal is\n" +
		"configured by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and profiles.\n\n" +
		newFlags().FlagUsagesWrapped(100)
}

// newFlags returns one flag for each key, and --config.
func newFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.SortFlags = false
	flags.String("config", "", "config file, yaml, toml or json ("+FileVariable+")")
	for _, k := range keys() {
		flags.String(k.flag(), k.initial, k.usage+" ("+k.variable()+")")
		flags.Lookup(k.flag()).NoOptDefVal = k.bare()
	}
	return flags
}

// newViper returns a viper with all defaults set; without them it ignores the
// variables of keys that are not in the file.
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

// readFile reads the config file, if there is one, and reports its unknown keys.
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
		return []error{fileError(path, err)}
	}
	var errs []error
	known := Keys()
	found := v.AllKeys()
	sort.Strings(found)
	for _, name := range found {
		if !slices.Contains(known, name) && !isNamedCredentialKey(name) {
			errs = append(errs, fmt.Errorf("read config file %s: unknown key %s%s", path, name, suggestKey(name, known)))
		}
	}
	return errs
}

// isStated reports whether a file, a variable or a flag sets a key.
func isStated(v *viper.Viper, flags *pflag.FlagSet, name string) bool {
	at := key{name: name}
	_, inEnvironment := os.LookupEnv(at.variable())
	return v.InConfig(name) || inEnvironment || flags.Changed(at.flag())
}

// unknownVariables reports ARMATURE_* variables that set nothing: a misspelled one
// would otherwise be ignored silently.
func (c Config) unknownVariables() []error {
	known, prefixes := Variables(), []string{Default().Secrets.EnvPrefix}
	for _, list := range c.allowLists() {
		prefixes = append(prefixes, list.EnvPrefix)
	}
	var errs []error
	for _, assignment := range os.Environ() {
		name, _, _ := strings.Cut(assignment, "=")
		isSecret := slices.ContainsFunc(prefixes, func(prefix string) bool { return prefix != "" && strings.HasPrefix(name, prefix) })
		if strings.HasPrefix(name, envPrefix) && !isSecret && !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("read environment: unknown variable %s%s", name, suggest(name, known)))
		}
	}
	return errs
}

// decode returns the Config for the keys. Keys that cannot be decoded are problems and
// keep their defaults. Unknown keys are reported by readFile, which knows the file;
// UnmarshalExact guards against a key of the table without a field.
func decode(v *viper.Viper) (Config, problems) {
	values := map[string]any{}
	known := Keys()
	for _, name := range v.AllKeys() {
		if slices.Contains(known, name) || isNamedCredentialKey(name) {
			values[name] = v.Get(name)
		}
	}
	loaded, err := unmarshal(values)
	if err == nil {
		return loaded, nil
	}
	unreadable := decodeProblems(err)
	for _, problem := range unreadable {
		delete(values, problem.key)
	}
	for _, k := range keys() {
		if _, readable := values[k.name]; !readable {
			values[k.name] = k.initial
		}
	}
	loaded, err = unmarshal(values)
	if err != nil {
		unreadable = append(unreadable, problem{err: err})
	}
	return loaded, unreadable
}

func unmarshal(values map[string]any) (Config, error) {
	v := viper.New()
	for name, value := range values {
		v.Set(name, value)
	}
	var loaded Config
	err := v.UnmarshalExact(&loaded, viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(decodeDuration, decodeList, decodeStart, decodeObserve, decodeText)))
	return loaded, err
}

// decodeDuration parses durations and refuses numbers, which would be nanoseconds.
func decodeDuration(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() {
		return value, nil
	}
	d, err := time.ParseDuration(fmt.Sprint(value))
	if _, isText := value.(string); !isText || err != nil {
		return nil, fmt.Errorf("invalid duration %q; use units h, m, s, for example 1h30m", fmt.Sprint(value))
	}
	return d, nil
}

// decodeList splits a text with commas, the form of lists in variables and flags.
func decodeList(_, to reflect.Type, value any) (any, error) {
	text, isText := value.(string)
	if !isText || to != reflect.TypeFor[[]string]() {
		return value, nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
}

// decodeStart takes a truth value and a date, as YAML reads them, for the name of a start.
func decodeStart(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[Start]() {
		return value, nil
	}
	switch value := value.(type) {
	case time.Time:
		return value.Format(time.DateOnly), nil
	case bool:
		return strings.TrimSuffix(strconv.FormatBool(value), "false"), nil
	case string:
		if value == "false" {
			return "", nil
		}
	}
	return value, nil
}

// decodeObserve takes a truth value, as YAML reads it, for what is observed.
func decodeObserve(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[Observe]() {
		return value, nil
	}
	if truth, isBool := value.(bool); isBool {
		value = strconv.FormatBool(truth)
	}
	if value == "false" {
		return "", nil
	}
	return value, nil
}

// decodeText refuses a list or section in place of a text, and a number that would
// silently become a text of another form (1e3, 0x10).
func decodeText(from, to reflect.Type, value any) (any, error) {
	if to.Kind() == reflect.String && from.Kind() != reflect.String {
		return nil, fmt.Errorf("must be text, %s", textRemedy(from.Kind()))
	}
	return value, nil
}
