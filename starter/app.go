package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// taskQueueVariable is the CLI's own environment variable; the connection to
// Temporal has Temporal's names (envconfig).
const taskQueueVariable = "ARMATURE_TASK_QUEUE"

// app is the world of one run of the CLI: streams, clock, environment and the
// way to Temporal. Tests replace each.
type app struct {
	in       io.Reader
	out, err io.Writer
	// terminal: out is a terminal; asks: in is one too, so a question may be
	// asked.
	terminal, asks bool
	color          bool
	// size is the width and height of the terminal in characters.
	size    func() (width, height int)
	environ []string
	now     func() time.Time
	// after is time.After.
	after   func(time.Duration) <-chan time.Time
	connect func(ctx context.Context, a *app) (*backend, error)
	// by is who acts: user@host.
	by        string
	taskQueue string
	// workerTimeout is how long one message waits for a worker's answer.
	workerTimeout time.Duration
}

// newApp is the real world.
func newApp() *app {
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		environ: os.Environ(),
		now:     time.Now, after: time.After,
		connect: connectTemporal,
		by:      actor(),
		size:    terminalSize,
	}
	a.detect(os.Stdin, os.Stdout)
	return a
}

// detect finds out what stands at the ends of the streams: only a terminal that
// can more than append sees escape codes, and NO_COLOR takes colors away.
func (a *app) detect(in, out *os.File) {
	kind, _ := a.lookup("TERM")
	a.terminal = term.IsTerminal(int(out.Fd())) && kind != "dumb"
	a.asks = term.IsTerminal(int(out.Fd())) && term.IsTerminal(int(in.Fd()))
	a.color = a.terminal && a.wantsColor()
}

// wantsColor reports whether NO_COLOR is not set, or empty (no-color.org).
func (a *app) wantsColor() bool {
	set, _ := a.lookup("NO_COLOR")
	return set == ""
}

// actor is user@host.
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

// run executes one command line and returns the exit code. Everything a user
// reads goes to the app's streams; errors are one sentence on err.
func run(ctx context.Context, a *app, args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(a.err, "%s: %s\n", root.Name(), commandFault(root, err))
	}
	return exitCode(err)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "armature",
		Short: "Keep Azure resources the way their manifests say, on Temporal",
		Long: `armature sends manifests to durable Temporal workflows, one for each Azure
resource, and shows what they decide. It never talks to Azure itself.

The connection to Temporal is configured as for every Temporal tool:
TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_PROFILE, TEMPORAL_API_KEY,
TEMPORAL_TLS_*, or the file temporal.toml.

` + exitHelp + `

The codes of plan are its own: 0 no changes, 2 changes, 1 any error.`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	queue := workflows.TaskQueue
	if set, ok := a.lookup(taskQueueVariable); ok && set != "" {
		queue = set
	}
	root.PersistentFlags().StringVar(&a.taskQueue, "task-queue", queue, "task queue of the workers (environment: "+taskQueueVariable+")")
	root.PersistentFlags().DurationVar(&a.workerTimeout, "worker-timeout", workerTimeout, "how long one message waits for a worker's answer, from when it is sent")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return badInput("%s", flagFault(c, err)) })
	root.AddCommand(
		a.applyCommand(), a.planCommand(), a.importCommand(), a.getCommand(), a.describeCommand(), a.whyCommand(), a.waitCommand(),
		a.reconcileCommand(), a.pauseCommand(), a.resumeCommand(), a.deleteCommand(),
		a.freezeCommand(), a.unfreezeCommand(),
		a.rulesCommand(), a.replayCommand(), a.doctorCommand(), a.setupCommand(), a.versionCommand(), a.completionCommand(),
	)
	for _, c := range root.Commands() {
		wrapErrors(c)
		if timeout := c.Flags().Lookup("timeout"); timeout != nil {
			timeout.DefValue = strings.TrimSuffix(timeout.DefValue, "0s")
		}
	}
	return root
}

// wrapErrors gives what a command returns an exit code: faults keep theirs,
// wrong arguments are bad input, the rest failed.
func wrapErrors(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return badInput("%v; see `%s --help`", err, c.CommandPath())
			}
			return nil
		}
	}
	runE := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if wait := c.Flag("worker-timeout"); wait != nil && wait.Changed {
			if d, err := c.Flags().GetDuration("worker-timeout"); err == nil && d <= 0 {
				return badInput("--worker-timeout %s leaves a worker no time; write a duration like 30s", d)
			}
		}
		return asFault(runE(c, args))
	}
}

// lookup finds an environment variable; the last setting wins, as in a shell.
func (a *app) lookup(name string) (string, bool) {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if entry := a.environ[i]; len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name {
			return entry[len(name)+1:], true
		}
	}
	return "", false
}

// printf writes to the user's output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// note writes one sentence beside the output: on stderr, so that pipes stay
// clean.
func (a *app) note(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }
