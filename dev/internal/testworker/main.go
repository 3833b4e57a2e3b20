// Command testworker is worker/main.go with an additional extension that waits at a
// step of the pass until the test releases it, writes another resource, or shows secrets, and
// with an authorizer. The crash tests kill it there.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/dev/internal/testworker/careless"
	"github.com/armature-io/armature/dev/internal/testworker/codec"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
	"github.com/armature-io/armature/dev/internal/testworker/peer"
	"github.com/armature-io/armature/dev/internal/testworker/policy"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/service"
	"go.temporal.io/sdk/converter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	var links []extensions.Entry
	options := service.Options{Version: "test"}
	switch step := os.Getenv(gate.StepVariable); step {
	case "":
	case gate.Write:
		options.MayWrite = gate.BeforeWrite(os.Getenv(gate.FolderVariable))
	default:
		link := gate.Link(step, os.Getenv(gate.FolderVariable))
		links = append(links, extensions.Entry{Type: extensions.AllTypes, Link: link})
	}
	if id := os.Getenv(peer.Variable); id != "" {
		link, err := peer.Link(id)
		if err != nil {
			fmt.Fprintln(os.Stderr, peer.Variable+":", err)
			os.Exit(service.ExitConfig)
		}
		links = append(links, extensions.Entry{Type: peer.Type, Link: link})
	}
	if os.Getenv(careless.Variable) != "" {
		links = append(links, extensions.Entry{Type: careless.Type, Link: careless.Link{}})
	}
	options.FreezeInterval = duration(gate.FreezeVariable)
	if ahead := duration(gate.ClockVariable); ahead != 0 {
		options.Now = func() time.Time { return time.Now().Add(ahead) }
	}
	if list := os.Getenv(policy.Variable); list != "" {
		options.Authorize = policy.Authorize(list)
	}
	if issuer := os.Getenv(policy.IssuerVariable); issuer != "" {
		callers, err := caller.New(caller.Options{Issuer: issuer, Audiences: []string{policy.Audience}})
		if err != nil {
			fmt.Fprintln(os.Stderr, policy.IssuerVariable+":", err)
			os.Exit(service.ExitConfig)
		}
		options.Callers, options.Authorize = callers, policy.Owners
	}
	if delay := duration(policy.DelayVariable); delay != 0 {
		options.Authorize = policy.Slow(delay, options.Authorize)
	}
	if os.Getenv(codec.Variable) != "" {
		options.PayloadCodecs = []converter.PayloadCodec{codec.Reversing{}}
	}
	options.Extensions = links
	os.Exit(service.Main(ctx, os.Args[1:], options))
}

// duration returns the value of a variable, 0 if it is not set.
func duration(variable string) time.Duration {
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	value, err := time.ParseDuration(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, variable+":", err)
		os.Exit(service.ExitConfig)
	}
	return value
}
