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
	// healthyWithin bounds the start of a service, on a machine that builds at
	// the same time.
	healthyWithin = 2 * time.Minute
	checkEvery    = 200 * time.Millisecond
	// restarts is how often a service that ends before it is healthy is started
	// again: PostgreSQL ends as long as children of a killed one are there.
	restarts = 10
)

// Process is one replica of a service.
type Process struct {
	name, address string
	// folder is its root, or what it needs; dir is where it runs.
	folder, dir string
	// command is the file's, args what is run.
	command, args, env []string
	// check is the health check, as in the file.
	check      []string
	attributes *syscall.SysProcAttr
	// ask replaces a check whose program is not here.
	ask func(ctx context.Context) error
	// restart says that the service is started again where it ends.
	restart bool
	running *exec.Cmd
	exited  chan struct{}
	log     string
}

// Name is that of the service and the number of the replica.
func (p *Process) Name() string { return p.name }

// Address is the replica's own address, without a port.
func (p *Process) Address() string { return p.address }

// Environment is what the process runs with.
func (p *Process) Environment() []string { return slices.Clone(p.env) }

// Running tells whether the process lives.
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
	defer func() { _ = file.Close() }() // the process has its own
	p.log, p.exited = log, make(chan struct{})
	p.running = p.prepare(p.args)
	p.running.Stdout, p.running.Stderr = file, file
	if err := p.running.Start(); err != nil {
		return fmt.Errorf("run %s: %w", p.args[0], err)
	}
	go func() {
		_ = p.running.Wait() // the state tells what anybody asks for
		close(p.exited)
	}()
	return nil
}

// prepare is a command in the process's root, as its user and with its
// environment.
func (p *Process) prepare(args []string) *exec.Cmd {
	command := &exec.Cmd{Path: args[0], Args: args, Env: p.env, Dir: p.dir, SysProcAttr: &syscall.SysProcAttr{}}
	if p.attributes != nil {
		attributes := *p.attributes
		command.SysProcAttr = &attributes
	}
	if command.SysProcAttr.Chroot != "" {
		command.Dir = "/"
	}
	// What a killed test leaves behind would hold the ports of the next.
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return command
}

// ended waits until the process ends by itself, well.
func (p *Process) ended(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for %s: %w", p.name, ctx.Err())
	case <-p.exited:
	}
	if code := p.running.ProcessState.ExitCode(); code != 0 {
		content, _ := os.ReadFile(p.log) // the exit code matters more
		return fmt.Errorf("%s ended with exit code %d:\n%s", p.name, code, content)
	}
	return nil
}

// wait waits until the health check says yes.
func (p *Process) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthyWithin)
	defer cancel()
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for again := 0; ; {
		err := p.healthy(ctx)
		if err == nil && p.Running() {
			return nil
		}
		select {
		case <-p.exited:
			if again++; p.restart && again <= restarts {
				if err := errors.Join(pause(ctx, time.Second), p.start(p.log)); err != nil {
					return err
				}
				continue
			}
			content, _ := os.ReadFile(p.log) // that it ended matters more
			return fmt.Errorf("%s ended:\n%s", p.name, content)
		case <-ctx.Done():
			return fmt.Errorf("%s is not healthy after %s: %w", p.name, healthyWithin, err)
		case <-ticker.C:
		}
	}
}

// healthy runs the health check once. Checks by programs of other images' shells
// are asked from here.
func (p *Process) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	switch {
	case p.ask != nil:
		return p.ask(ctx)
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

// kill ends the process as kill -9 does and returns when it is gone.
func (p *Process) kill() {
	if !p.Running() {
		return
	}
	_ = p.running.Process.Kill() // it may have ended by now
	<-p.exited
}
