package stack

import (
	"context"
	"errors"
	"fmt"
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
	"google.golang.org/protobuf/types/known/durationpb"
)

// createNamespace creates the namespace that the script creates.
func (s *Stack) createNamespace(ctx context.Context, p *Process, script string) error {
	words := regexp.MustCompile(`namespace create -n (\S+) --retention (\d+h)`).FindStringSubmatch(script)
	if words == nil {
		return fmt.Errorf("no namespace is created by: %s", script)
	}
	retention, err := time.ParseDuration(words[2])
	if err != nil {
		return err
	}
	address := ""
	for _, variable := range p.env {
		if value, found := strings.CutPrefix(variable, "TEMPORAL_ADDRESS="); found {
			address = value
		}
	}
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: address, Logger: silent{}})
	if err != nil {
		return err
	}
	defer namespaces.Close()
	// The job is started again on failure until the server serves.
	for {
		err := namespaces.Register(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace: words[1], WorkflowExecutionRetentionPeriod: durationpb.New(retention),
		})
		var exists *serviceerror.NamespaceAlreadyExists
		if err == nil || errors.As(err, &exists) {
			return nil
		}
		if err := pause(ctx, checkEvery); err != nil {
			return fmt.Errorf("create namespace %s: %w", words[1], err)
		}
	}
}

// postgres makes a database cluster in a folder, as the image does at its first
// start, and serves it as an unprivileged user: PostgreSQL refuses root.
func (s *Stack) postgres(p *Process, service types.ServiceConfig) error {
	const nobody = 65534 // a user that has a name: initdb wants one
	data, password := filepath.Join(p.folder, "data"), filepath.Join(p.folder, "password")
	p.attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	p.env = append(p.env, "LC_ALL=C.UTF-8", "TZ=UTC")
	user := *service.Environment["POSTGRES_USER"]
	isNew := false
	if _, err := os.Stat(data); os.IsNotExist(err) {
		isNew = true
		if err := writeFile(password, []byte(*service.Environment["POSTGRES_PASSWORD"])); err != nil {
			return err
		}
		if err := os.Chown(p.folder, nobody, nobody); err != nil {
			return err
		}
		// Outside of a test, fsync matters; kill -9 of a process loses nothing.
		if err := s.run(p, "initdb", "--no-sync", "-U", user, "--pwfile", password, "-A", "scram-sha-256", "-E", "UTF8", "-D", data); err != nil {
			return err
		}
	}
	p.args = []string{
		filepath.Join(s.programs.Postgres, "postgres"), "-D", data, "-c", "listen_addresses=" + p.address,
		"-c", "port=5432", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=100",
	}
	p.env = append(p.env, "PGPASSWORD="+*service.Environment["POSTGRES_PASSWORD"])
	p.ask = func(context.Context) error {
		if err := s.run(p, "pg_isready", "-h", p.address, "-U", user); err != nil || !isNew {
			return err
		}
		// The image creates a database of the user's name.
		isNew = false
		return s.run(p, "createdb", "-h", p.address, "-U", user, user)
	}
	return nil
}

// run runs one of PostgreSQL's programs as its user.
func (s *Stack) run(p *Process, program string, args ...string) error {
	command := p.prepare(append([]string{filepath.Join(s.programs.Postgres, program)}, args...))
	command.Dir = p.folder
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, said)
	}
	return nil
}

// FindPostgres is the folder of the newest PostgreSQL that Debian's packages
// brought; "" is none.
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

// pause waits; the error says that the context ended first.
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

// silent drops the client's log: a server that is not there yet is no news.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
