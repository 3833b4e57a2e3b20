package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/encryption"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"golang.org/x/term"
)

// taskQueueVariable is the CLI's own environment variable. The connection to Temporal
// has Temporal's names (envconfig).
const taskQueueVariable = "ARMATURE_TASK_QUEUE"

// app has everything that one run of the CLI uses from outside: streams, clock,
// environment and the connection to Temporal. Tests replace each.
type app struct {
	options  Options
	in       io.Reader
	out, err io.Writer
	// terminal means that out is a terminal; interactive that in is one too, so the
	// user can be asked.
	terminal, interactive bool
	color                 bool
	// ink marks what only Armature may write. run sets it.
	ink cli.Ink
	// size returns the width and height of the terminal in characters.
	size        func() (width, height int)
	environment cli.Environment
	now         func() time.Time
	// after is time.After.
	after   func(time.Duration) <-chan time.Time
	connect func(ctx context.Context, o backend.Options) (*connection, error)
	// open is the connection of the command, nil before it needs one.
	open *connection
	// by is the acting user: user@host.
	by        string
	taskQueue string
	// signingKey is the file of --signing-key.
	signingKey string
	// keys are the flags with the keys of payloads, converters what they give, nil before a
	// command needs it.
	keys       backend.EncryptionKeys
	converters *payload.Converters
	// trace is the trace of the command. run sets it.
	trace *backend.CommandTrace
	// embedded are the options of the connection where the CLI has some of its own.
	embedded *client.Options
	// workerTimeout is how long one message waits for a worker.
	workerTimeout time.Duration
}

// newApp returns the app of the real process.
func newApp(options Options) *app {
	a := &app{
		options: options,
		in:      os.Stdin, out: os.Stdout, err: os.Stderr,
		environment: os.Environ(),
		now:         time.Now, after: time.After,
		connect: connectTemporal,
		by:      actor(),
		size:    terminalSize,
	}
	a.detect(os.Stdin, os.Stdout)
	return a
}

// detect sets what the streams are. A dumb terminal gets no escape codes, and
// NO_COLOR removes colors.
func (a *app) detect(in, out *os.File) {
	kind, _ := a.environment.LookupEnv("TERM")
	a.terminal = term.IsTerminal(int(out.Fd())) && kind != "dumb"
	a.interactive = term.IsTerminal(int(out.Fd())) && term.IsTerminal(int(in.Fd()))
	a.color = a.terminal && a.wantsColor()
}

// wantsColor reports whether NO_COLOR is not set, or empty (no-color.org).
func (a *app) wantsColor() bool {
	value, _ := a.environment.LookupEnv("NO_COLOR")
	return value == ""
}

// terminalSize returns the size of the terminal at standard output.
func terminalSize() (width, height int) {
	if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 && height > 0 {
		return width, height
	}
	return 80, 24
}

// maxLineWidth is the width of text for people where no terminal is narrower.
const maxLineWidth = 100

// lineWidth returns the width for text that is wrapped.
func (a *app) lineWidth() int {
	if !a.terminal {
		return maxLineWidth
	}
	width, _ := a.size()
	return min(width, maxLineWidth)
}

// actor returns user@host.
func actor() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// run executes one command line, closes its connection, and returns its exit code.
// Output goes to the app's streams; an error is one sentence on err.
func run(ctx context.Context, a *app, args []string) int {
	defer a.disconnect()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.ink = cli.NewInk()
	out, errs := cli.NewWriter(a.out, a.ink), cli.NewWriter(a.err, a.ink)
	defer func(in io.Reader, out, err io.Writer) { a.in, a.out, a.err = in, out, err }(a.in, a.out, a.err)
	a.in, a.out, a.err = cli.NewReader(ctx, a.in), out, errs
	root := a.rootCommand()
	root.SetArgs(args)
	ctx, a.trace = backend.BeginTrace(ctx, a.options.version(), a.environment, a.note)
	command, err := root.ExecuteContextC(ctx)
	err = cli.Interrupted(ctx, err)
	a.trace.End(command.CommandPath(), a.open != nil, cli.ExitCode(err))
	if err != nil && err.Error() != "" {
		a.note("%s: %s", root.Name(), cli.CommandErrorText(root, err))
	}
	return cli.Conclude(ctx, cli.ExitCode(err), err == nil || errors.Is(err, errChanges), out, errs)
}

// globalFlags is the part of cobra's usage template that repeats the flags of the root.
const globalFlags = "\nGlobal Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}"

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "armature",
		Short: "Keep Azure resources in the state of their manifests, on Temporal",
		Long: `armature sends manifests to durable Temporal workflows, one for each Azure
resource, and shows their state. It never calls Azure itself.

The connection to Temporal is configured as for every Temporal tool:
TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_PROFILE, TEMPORAL_API_KEY,
TEMPORAL_TLS_*, or the file temporal.toml.

` + cli.ExitHelp + `

plan, drift and unmanaged have their own codes: 0 no changes, 2 changes, 1 any error.`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	taskQueue := workflows.TaskQueue
	if value, ok := a.environment.LookupEnv(taskQueueVariable); ok && value != "" {
		taskQueue = value
	}
	root.PersistentFlags().StringVar(&a.taskQueue, "task-queue", taskQueue, "task queue of the workers (environment: "+taskQueueVariable+")")
	root.PersistentFlags().StringVar(&a.keys.Keys, "encryption-keys", "", "keys of encrypted payloads, separated by commas, each as ID=env:NAME, ID=file:PATH, ID=keyvault:URL or ID=wrapped:PATH (environment: "+encryption.KeysVariable+")")
	root.PersistentFlags().StringVar(&a.keys.WriteKey, "encryption-write-key", "", "ID of the key that encrypts what is sent (environment: "+encryption.WriteKeyVariable+")")
	root.PersistentFlags().DurationVar(&a.workerTimeout, "worker-timeout", backend.DefaultWorkerTimeout, "how long one message waits for a worker after it is sent")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return cli.BadInput("%s", cli.FlagErrorText(c, err)) })
	// The flags of every command are listed once, in the help of the root.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), globalFlags, "\nFlags of every command: {{.Root.Name}} --help", 1))
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"write", "Write manifests", []*cobra.Command{a.convertCommand(), a.explainCommand(), a.importCommand(), a.newCommand(), a.renderCommand(), a.rulesCommand(), a.typesCommand(), a.validateCommand()}},
		{"change", "Change resources", []*cobra.Command{a.applyCommand(), a.deleteCommand(), a.forgetCommand(), a.freezeCommand(), a.moveCommand(), a.pauseCommand(), a.planCommand(), a.reconcileCommand(), a.resumeCommand(), a.unfreezeCommand()}},
		{"look", "Look at resources", []*cobra.Command{a.describeCommand(), a.driftCommand(), a.getCommand(), a.historyCommand(), a.observedCommand(), a.outputsCommand(), a.uiCommand(), a.unmanagedCommand(), a.waitCommand(), a.whyCommand()}},
		{"run", "Run Armature", []*cobra.Command{a.doctorCommand(), a.rolloutCommand()}},
		{"set-up", "Set up", []*cobra.Command{a.completionCommand(), a.initCommand(), a.setupCommand(), a.versionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("set-up")
	for _, c := range root.Commands() {
		wrapErrors(c)
		if timeout := c.Flags().Lookup("timeout"); timeout != nil {
			timeout.DefValue = strings.TrimSuffix(timeout.DefValue, "0s")
		}
	}
	return root
}

// wrapErrors gives every error of a command and of those below it an exit code: wrong
// arguments and wrong flags are bad input, an error without a code failed.
func wrapErrors(c *cobra.Command) {
	for _, below := range c.Commands() {
		wrapErrors(below)
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return cli.BadInput("%v; see `%s --help`", err, c.CommandPath())
			}
			return nil
		}
	}
	runE := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		for _, flag := range []struct {
			name, text string
			min        time.Duration
		}{
			{"worker-timeout", "--worker-timeout %s is too short; use a duration like 30s", 1},
			{"timeout", "--timeout %s is negative; 0 means no limit", 0},
		} {
			if d, err := c.Flags().GetDuration(flag.name); err == nil && c.Flag(flag.name).Changed && d < flag.min {
				return cli.BadInput(flag.text, d)
			}
		}
		return backend.WithExitCode(runE(c, args))
	}
}

// printf writes to the user's output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// isClosed reports whether the output cannot be written any more; run reports why.
func (a *app) isClosed() bool {
	out, ok := a.out.(*cli.Writer)
	return ok && out.Err() != nil
}

// note writes one sentence to stderr, so that pipes get the output only.
func (a *app) note(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }

// painter returns the painter of the current time.
func (a *app) painter() screen.Painter {
	return screen.Painter{Now: a.now(), Ink: a.ink.WithColors(a.color), TaskQueue: a.taskQueue}
}
