// Package stack runs the services of docker-compose.yml as processes of this
// machine, where no Docker engine is: with the environment, command, secrets and
// health check that the file states, in the order that it states.
//
// Each service has a loopback address of its own in the place of a container's,
// so ports are those of the file. The programs of our images run in a root folder
// of their own (chroot) as the image's user, and find the other services by
// name; that takes root. What differs from containers stands in mapping.go.
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

// Stack is the services of a compose file. Its methods are for one goroutine.
type Stack struct {
	project  *types.Project
	programs Programs
	folder   string
	network  string
	// hosts are the addresses of the services; of one with replicas, that of
	// the first.
	hosts     map[string]string
	replicas  map[string]int
	processes map[string]*Process
	done      map[string]bool
}

// Options of a [Stack].
type Options struct {
	// Folder takes data and logs, and is made readable for other users.
	Folder string
	// Scale is the number of replicas of services, as in --scale.
	Scale map[string]int
	// Programs take the place of the images' programs.
	Programs Programs
}

// Load reads a compose file. Nothing runs before [Stack.Up].
func Load(ctx context.Context, file string, options Options) (*Stack, error) {
	if os.Getuid() != 0 {
		return nil, errors.New("run services: other users and root folders take root")
	}
	read, err := cli.NewProjectOptions([]string{file})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	project, err := read.LoadProject(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	// The programs of other users look into the folder.
	if err := os.Chmod(options.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("open %s to other users: %w", options.Folder, err)
	}
	s := &Stack{
		project: project, programs: options.Programs, folder: options.Folder, replicas: options.Scale,
		hosts: map[string]string{}, processes: map[string]*Process{}, done: map[string]bool{},
	}
	// The process ID keeps the networks of two stacks apart.
	s.network = fmt.Sprintf("127.%d.%d.", 64+os.Getpid()/250%128, os.Getpid()%250)
	for i, name := range project.ServiceNames() {
		s.hosts[name] = fmt.Sprintf("%s%d", s.network, 2+10*i)
	}
	return s, nil
}

// Host is the address of a service.
func (s *Stack) Host(service string) string { return s.hosts[service] }

// Address is the address of a service with a port.
func (s *Stack) Address(service, port string) string { return s.hosts[service] + ":" + port }

// Environment is a variable of a service as the file states it.
func (s *Stack) Environment(service, name string) string {
	if value := s.project.Services[service].Environment[name]; value != nil {
		return *value
	}
	return ""
}

// Up starts the services and what they depend on, and waits until all are
// healthy, or ended well where that is what they are for. Services that
// [NotHere] names are left out.
func (s *Stack) Up(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := s.up(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// All are the services that can run here.
func (s *Stack) All() []string {
	names := s.project.ServiceNames()
	return slices.DeleteFunc(names, func(name string) bool { return NotHere()[name] != "" })
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
	faults := make([]error, max(1, s.replicas[name]))
	for i := range faults {
		process, err := s.start(ctx, service, i)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		if process != nil {
			group.Go(func() { faults[i] = process.wait(ctx) })
		}
	}
	group.Wait()
	s.done[name] = true
	return errors.Join(faults...)
}

// Processes are the running replicas of a service.
func (s *Stack) Processes(service string) []*Process {
	var found []*Process
	for i := range max(1, s.replicas[service]) {
		if p := s.processes[replica(service, i)]; p != nil && p.Running() {
			found = append(found, p)
		}
	}
	return found
}

// Kill ends all replicas of services as kill -9 does; Up starts them again, with
// their data.
func (s *Stack) Kill(services ...string) {
	for _, name := range services {
		for _, process := range s.Processes(name) {
			process.kill()
		}
		s.done[name] = false
	}
}

// Down ends everything that still runs. Data and logs stay in the folder.
func (s *Stack) Down() {
	for _, process := range s.processes {
		process.kill()
	}
}

// Logs are the last lines of every service, for a test that failed.
func (s *Stack) Logs() string {
	const last = 4000 // bytes of each
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
		fmt.Fprintf(&text, "--- %s\n%s\n", filepath.Base(file), content[max(0, len(content)-last):])
	}
	return text.String()
}

func replica(service string, i int) string { return fmt.Sprintf("%s-%d", service, i+1) }

// address is that of one replica.
func (s *Stack) address(service string, i int) string {
	prefix, last := s.network, 0
	_, _ = fmt.Sscanf(strings.TrimPrefix(s.hosts[service], prefix), "%d", &last)
	return fmt.Sprintf("%s%d", prefix, last+i)
}
