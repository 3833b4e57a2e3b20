package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/fleet"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// parts is an assembled worker that does not run yet.
type parts struct {
	settings   config.Config
	log        *slog.Logger
	listener   net.Listener
	metrics    *metrics
	temporal   client.Client
	namespace  string
	deployment worker.DeploymentOptions
	activities *activities.Activities
	health     *health
	rules      *rules.Set // nil for none
}

// assemble builds everything, top to bottom, and tells all faults at once.
func assemble(ctx context.Context, settings config.Config, options Options) (*parts, error) {
	faults := []error{settings.Validate()}
	fault := func(err error) { faults = append(faults, err) }
	if faults[0] != nil {
		return nil, refuse(faults) // what follows would only repeat them
	}
	log := newLogger(settings.Log, options.Stderr)
	measured, err := newMetrics(log)
	fault(err)
	azure, err := newAzure(settings, options.Version, measured.request)
	fault(err)
	entries, ruleSet, err := withRules(ctx, settings.Rules, options.Extensions, log)
	fault(err)
	registry, err := extensions.New(entries...)
	fault(err)
	connection, err := temporalOptions(options, log, measured.sdk)
	fault(err)
	deployment, err := deploymentOptions()
	fault(err)
	maskKey, err := newMaskKey(settings.MaskKey, connection.Namespace)
	fault(err)
	if azure != nil {
		fault(azure.verify(ctx))
	}
	if errors.Join(faults...) != nil {
		return nil, refuse(faults)
	}
	temporal, err := client.NewLazyClient(connection)
	fault(err)
	listener, err := listen(settings.HTTP.Listen)
	fault(err)
	if errors.Join(faults...) != nil {
		return nil, refuse(faults)
	}
	if settings.MaskKey == "" && settings.Azure.Credential != config.CredentialNone {
		log.Warn("mask-key is not set: who reads histories could test guesses of short secret values against their masks, and rotated secrets are not detected")
	}
	if options.OnListen != nil && listener != nil {
		options.OnListen(listener.Addr().String())
	}
	colleagues := fleet.New(temporal, fleet.Options{Namespace: connection.Namespace, TaskQueue: settings.TaskQueue})
	return &parts{
		settings: settings, log: log, rules: ruleSet, listener: listener, metrics: measured,
		temporal: temporal, namespace: connection.Namespace, deployment: deployment,
		activities: activities.New(activities.Dependencies{
			Client:   azure.client,
			Registry: registry,
			Secrets:  secrets.New(secrets.Options{EnvPrefix: settings.Secrets.EnvPrefix, Dir: settings.Secrets.Dir, Vault: azure.client}),
			Masker:   secrets.NewMasker(maskKey),
			Fleet:    colleagues, Waker: colleagues, Turns: colleagues, Freezer: colleagues, Recaller: colleagues,
			Log: log,
		}, activities.Options{
			RereadWindow: settings.RereadWindow, HashKey: maskKey, Rotation: settings.MaskKey != "", Observe: measured.verdict,
			PutBudget:    settings.PutBudget,
			OverdueAfter: overdueAfter(settings), OverdueExempt: strings.FieldsFunc(settings.OverdueExempt, isComma),
			KeepUnregistered: !settings.Azure.RegisterProviders,
		}),
		health: newHealth(log, connection.HostPort, temporal, azure),
	}, nil
}

// overdueAfter is the setting as the activities know it, where negative is never.
func overdueAfter(settings config.Config) time.Duration {
	if settings.OverdueAfter == 0 {
		return -1
	}
	return settings.OverdueAfter
}

func isComma(r rune) bool { return r == ',' || r == ' ' }

// refuse keeps what is a fault.
func refuse(faults []error) error {
	refused := &ConfigError{}
	for _, err := range faults {
		if err != nil {
			refused.faults = append(refused.faults, err)
		}
	}
	return refused
}

// minMaskKey is the least length of a mask key, in bytes.
const minMaskKey = 16

// newMaskKey reads the key. Without one, all workers of a namespace share a key
// that is no secret: a random one would differ between workers and restarts,
// and every masked value would look changed.
func newMaskKey(reference config.Reference, namespace string) ([]byte, error) {
	value, err := reference.Read()
	if err != nil {
		return nil, fmt.Errorf("mask-key: %w", err)
	}
	if value == "" {
		sum := sha256.Sum256([]byte("armature mask key\x00" + namespace))
		return sum[:], nil
	}
	if len(strings.TrimSpace(value)) < minMaskKey {
		return nil, fmt.Errorf("mask-key: want at least %d bytes, for example by openssl rand -hex 32", minMaskKey)
	}
	sum := sha256.Sum256([]byte(value))
	return sum[:], nil
}

func listen(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // no address, no listener: that is the setting's meaning
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w: choose another port, or \"\" for none", err)
	}
	return listener, nil
}

func (w *parts) close() {
	w.temporal.Close()
	if w.listener != nil {
		_ = w.listener.Close() // closed already by the HTTP server where that ran
	}
}
