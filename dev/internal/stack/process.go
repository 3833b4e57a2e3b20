package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// healthTimeout bounds the start of a service; the machine may be compiling at
	// the same time.
	healthTimeout = 2 * time.Minute
	checkInterval = 200 * time.Millisecond
	// maxRestarts bounds the restarts of a service that exits before it is healthy:
	// PostgreSQL exits while children of a killed server still run.
	maxRestarts = 10
)

// Process is one replica of a service.
type Process struct {
	name, address string
	// folder is its root, or has its files; dir is its working directory.
	folder, dir string
	// command is the command in the file, args the one that runs.
	command, args, env []string
	// check is the health check in the file.
	check      []string
	attributes *syscall.SysProcAttr
	// probe replaces a health check whose program is not available.
	probe func(ctx context.Context) error
	// restart is whether the service is restarted when it exits.
	restart bool
	running *exec.Cmd
	exited  chan struct{}
	log     string
}

// Name returns the name of the service with the number of the replica.
func (p *Process) Name() string { return p.name }

// Address returns the replica's address, without a port.
func (p *Process) Address() string { return p.address }

// Environment returns the variables of the process.
func (p *Process) Environment() []string { return slices.Clone(p.env) }

// Running reports whether the process runs.
func (p *Process) Running() bool {
	if p.exited == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

func (p *Process) start(log string) error {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // the process has its own descriptor
	p.log, p.exited = log, make(chan struct{})
	p.running = p.prepare(p.args)
	p.running.Stdout, p.running.Stderr = file, file
	if err := p.running.Start(); err != nil {
		return fmt.Errorf("run %s: %w", p.args[0], err)
	}
	go func() {
		_ = p.running.Wait() // the process state has the exit code
		close(p.exited)
	}()
	return nil
}

// prepare returns a command with the root, the user and the environment of the
// process.
func (p *Process) prepare(args []string) *exec.Cmd {
	command := &exec.Cmd{Path: args[0], Args: args, Env: p.env, Dir: p.dir, SysProcAttr: &syscall.SysProcAttr{}}
	if p.attributes != nil {
		attributes := *p.attributes
		command.SysProcAttr = &attributes
	}
	if command.SysProcAttr.Chroot != "" {
		command.Dir = "/"
	}
	// Processes that outlive a killed test would keep the ports of the next test.
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return command
}

// waitSuccess waits until the process exits, and returns an error unless its exit
// code is 0.
func (p *Process) waitSuccess(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for %s: %w", p.name, ctx.Err())
	case <-p.exited:
	}
	if code := p.running.ProcessState.ExitCode(); code != 0 {
		content, _ := os.ReadFile(p.log) // the exit code matters more
		return fmt.Errorf("%s exited with code %d:\n%s", p.name, code, content)
	}
	return nil
}

// wait waits until the health check succeeds.
func (p *Process) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for restarts := 0; ; {
		err := p.healthy(ctx)
		if err == nil && p.Running() {
			return nil
		}
		select {
		case <-p.exited:
			if restarts++; p.restart && restarts <= maxRestarts {
				if err := errors.Join(pause(ctx, time.Second), p.start(p.log)); err != nil {
					return err
				}
				continue
			}
			content, _ := os.ReadFile(p.log) // the exit matters more
			return fmt.Errorf("%s exited:\n%s", p.name, content)
		case <-ctx.Done():
			return fmt.Errorf("%s is not healthy after %s: %w", p.name, healthTimeout, err)
		case <-ticker.C:
		}
	}
}

// healthy runs the health check once. Checks with programs of other images' shells
// are done in this process.
func (p *Process) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	switch {
	case p.probe != nil:
		return p.probe(ctx)
	case len(p.check) < 2 || p.check[0] != "CMD":
		return fmt.Errorf("no health check is known of %v", p.check)
	}
	switch args := p.check[1:]; args[0] {
	case "nc":
		return dial(ctx, net.JoinHostPort(p.address, args[len(args)-1]))
	case "wget":
		return get(ctx, strings.Replace(args[len(args)-1], "127.0.0.1", p.address, 1))
	default:
		command := p.prepare(args)
		var said strings.Builder
		command.Stdout, command.Stderr = &said, &said
		if err := command.Run(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, said.String())
		}
		return nil
	}
}

func dial(ctx context.Context, address string) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

func get(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// kill sends SIGKILL to the process and waits until it has exited.
func (p *Process) kill() {
	if !p.Running() {
		return
	}
	_ = p.running.Process.Kill() // it may have exited already
	<-p.exited
}
