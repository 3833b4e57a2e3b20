package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"
)

var namespaceCommand = regexp.MustCompile(`namespace create -n (\S+) --retention (\d+h)`)

// createNamespace creates the namespace of the script.
func (s *Stack) createNamespace(ctx context.Context, p *Process, script string) error {
	match := namespaceCommand.FindStringSubmatch(script)
	if match == nil {
		return fmt.Errorf("find the namespace in the script: %s", script)
	}
	retention, err := time.ParseDuration(match[2])
	if err != nil {
		return err
	}
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: environment(p.env)})
	if err != nil {
		return err
	}
	options.Logger = log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	namespaces, err := client.NewNamespaceClient(options)
	if err != nil {
		return err
	}
	defer namespaces.Close()
	// Compose restarts the job on failure until the server serves requests.
	for {
		err := namespaces.Register(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace: match[1], WorkflowExecutionRetentionPeriod: durationpb.New(retention),
		})
		if _, exists := errors.AsType[*serviceerror.NamespaceAlreadyExists](err); err == nil || exists {
			return nil
		}
		if err := pause(ctx, checkInterval); err != nil {
			return fmt.Errorf("create namespace %s: %w", match[1], err)
		}
	}
}

// environment looks variables up as the Temporal CLI does.
type environment []string

func (e environment) Environ() []string { return e }

func (e environment) LookupEnv(name string) (string, bool) {
	for _, variable := range e {
		if value, found := strings.CutPrefix(variable, name+"="); found {
			return value, true
		}
	}
	return "", false
}

// postgres creates a database cluster in a folder, as the image does at its first
// start, and serves it as an unprivileged user, because PostgreSQL refuses root.
func (s *Stack) postgres(p *Process, service types.ServiceConfig) error {
	const nobodyUser = 65534 // a user with a name, which initdb requires
	data, password := filepath.Join(p.folder, "data"), filepath.Join(p.folder, "password")
	p.attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyUser, Gid: nobodyUser}}
	p.env = append(p.env, "LC_ALL=C.UTF-8", "TZ=UTC")
	user := *service.Environment["POSTGRES_USER"]
	isNew := false
	if _, err := os.Stat(data); os.IsNotExist(err) {
		isNew = true
		if err := writeFile(password, []byte(*service.Environment["POSTGRES_PASSWORD"])); err != nil {
			return err
		}
		if err := os.Chown(p.folder, nobodyUser, nobodyUser); err != nil {
			return err
		}
		// fsync protects from a crash of the machine; a killed process loses nothing.
		if err := s.run(p, "initdb", "--no-sync", "-U", user, "--pwfile", password, "-A", "scram-sha-256", "-E", "UTF8", "-D", data); err != nil {
			return err
		}
	}
	p.args = []string{
		filepath.Join(s.programs.Postgres, "postgres"), "-D", data, "-c", "listen_addresses=" + p.address,
		"-c", "port=5432", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=100",
	}
	p.env = append(p.env, "PGPASSWORD="+*service.Environment["POSTGRES_PASSWORD"])
	p.probe = func(context.Context) error {
		if err := s.run(p, "pg_isready", "-h", p.address, "-U", user); err != nil || !isNew {
			return err
		}
		// The image creates a database of the user's name.
		isNew = false
		return s.run(p, "createdb", "-h", p.address, "-U", user, user)
	}
	return nil
}

// run runs a PostgreSQL program as the user of the process.
func (s *Stack) run(p *Process, program string, args ...string) error {
	command := p.prepare(append([]string{filepath.Join(s.programs.Postgres, program)}, args...))
	command.Dir = p.folder
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w\n%s", program, err, output)
	}
	return nil
}

// FindPostgres returns the folder of the newest PostgreSQL of Debian's packages, or
// "".
func FindPostgres() string {
	newest, found := 0, ""
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	for _, folder := range folders {
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		if _, missing := os.Stat(filepath.Join(folder, "initdb")); err == nil && missing == nil && version > newest {
			newest, found = version, folder
		}
	}
	return found
}

// pause waits for a duration. It returns an error if the context ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
