// Package stack runs the services of docker-compose.yml as local processes, for
// machines without a Docker engine: with the environment, command, secrets, health
// checks and dependencies of the file.
//
// Each service has its own loopback address instead of a container's, so that the
// ports are the file's. Armature's own programs run in a root folder (chroot) as
// the image's user and find the other services by name, which requires root.
// mapping.go has the differences from containers.
package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// Stack runs the services of a compose file. It is not safe for concurrent use.
type Stack struct {
	project  *types.Project
	programs Programs
	folder   string
	network  string
	// hosts are the addresses of the services, of the first replica each.
	hosts     map[string]string
	replicas  map[string]int
	processes map[string]*Process
	done      map[string]bool
}

// Options of a [Stack].
type Options struct {
	// Folder is for data and logs. It is made readable for other users.
	Folder string
	// Scale is the number of replicas by service, as in --scale.
	Scale map[string]int
	// Programs replace the programs of the images.
	Programs Programs
	// Overlays are further files, as in -f FILE -f FILE.
	Overlays []string
	// Env are the variables of the files, as NAME=value.
	Env []string
}

// Load reads a compose file. It starts nothing; see [Stack.Up].
func Load(ctx context.Context, file string, options Options) (*Stack, error) {
	if os.Getuid() != 0 {
		return nil, errors.New("run services: root is required to change users and root folders")
	}
	read, err := cli.NewProjectOptions(append([]string{file}, options.Overlays...), cli.WithEnv(options.Env))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	project, err := read.LoadProject(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	// Programs of other users read the folder.
	if err := os.Chmod(options.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("open %s to other users: %w", options.Folder, err)
	}
	s := &Stack{
		project: project, programs: options.Programs, folder: options.Folder, replicas: options.Scale,
		hosts: map[string]string{}, processes: map[string]*Process{}, done: map[string]bool{},
	}
	// The process ID separates the networks of two stacks.
	s.network = fmt.Sprintf("127.%d.%d.", 64+os.Getpid()/250%128, os.Getpid()%250)
	for i, name := range project.ServiceNames() {
		s.hosts[name] = fmt.Sprintf("%s%d", s.network, 2+10*i)
	}
	return s, nil
}

// Host returns the address of a service.
func (s *Stack) Host(service string) string { return s.hosts[service] }

// Address returns host:port of a service.
func (s *Stack) Address(service, port string) string { return s.hosts[service] + ":" + port }

// Environment returns a variable of a service in the file, or "".
func (s *Stack) Environment(service, name string) string {
	if value := s.project.Services[service].Environment[name]; value != nil {
		return *value
	}
	return ""
}

// Up starts the services and their dependencies, and waits until all are healthy,
// or have succeeded if they are jobs.
func (s *Stack) Up(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := s.up(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// All returns the names of the services that do not require Docker.
func (s *Stack) All() []string {
	names := s.project.ServiceNames()
	return slices.DeleteFunc(names, func(name string) bool { return DockerOnly()[name] != "" })
}

func (s *Stack) up(ctx context.Context, name string) error {
	if s.done[name] {
		return nil
	}
	service, err := s.project.GetService(name)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	for dependency := range service.DependsOn {
		if err := s.up(ctx, dependency); err != nil {
			return err
		}
	}
	var group sync.WaitGroup
	errs := make([]error, max(1, s.replicas[name]))
	for i := range errs {
		process, err := s.start(ctx, service, i)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		if process != nil {
			group.Go(func() { errs[i] = process.wait(ctx) })
		}
	}
	group.Wait()
	s.done[name] = true
	return errors.Join(errs...)
}

// Processes returns the running replicas of a service.
func (s *Stack) Processes(service string) []*Process {
	var found []*Process
	for i := range max(1, s.replicas[service]) {
		if p := s.processes[replica(service, i)]; p != nil && p.Running() {
			found = append(found, p)
		}
	}
	return found
}

// Kill sends SIGKILL to all replicas of services. Up starts them again with their
// data.
func (s *Stack) Kill(services ...string) {
	for _, name := range services {
		for _, process := range s.Processes(name) {
			process.kill()
		}
		s.done[name] = false
	}
}

// Down kills all running processes. Data and logs stay in the folder.
func (s *Stack) Down() {
	for _, process := range s.processes {
		process.kill()
	}
}

// Logs returns the end of each service's log, for messages of failed tests.
func (s *Stack) Logs() string {
	const maxBytes = 4000 // of each log
	var text strings.Builder
	files, err := filepath.Glob(filepath.Join(s.folder, "*.log"))
	if err != nil {
		return err.Error()
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			content = []byte(err.Error())
		}
		fmt.Fprintf(&text, "--- %s\n%s\n", filepath.Base(file), content[max(0, len(content)-maxBytes):])
	}
	return text.String()
}

func replica(service string, i int) string { return fmt.Sprintf("%s-%d", service, i+1) }

// address returns the address of one replica.
func (s *Stack) address(service string, i int) string {
	prefix, last := s.network, 0
	_, _ = fmt.Sscanf(strings.TrimPrefix(s.hosts[service], prefix), "%d", &last)
	return fmt.Sprintf("%s%d", prefix, last+i)
}
