package service

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/encryption"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/workflowservice/v1"
)

// newConverters returns the converters of the configuration. Keys in key vaults are read
// with the worker's own credential. azure is nil where its configuration is not valid.
func newConverters(ctx context.Context, settings config.Config, azure *azure, options payload.Options) (*payload.Converters, error) {
	sources := encryption.Sources{Vault: func() (encryption.Vault, error) {
		if azure == nil {
			return nil, errors.New("the credential for the key vault is not valid, see the other problems")
		}
		return encryption.NewVault(azure.options.Credential, azure.options.Transport)
	}}
	converters, err := encryption.Load(ctx, encryption.Settings(settings.Encryption), sources, options)
	if err != nil {
		return payload.Clear(), err //nolint:wrapcheck // it names the keys of the configuration
	}
	return converters, nil
}

// logEncryption logs which keys a worker has, by ID and check value.
func logEncryption(log *slog.Logger, status payload.Status) {
	switch {
	case len(status.Keys) == 0:
	case status.WriteKey == "":
		log.Warn("payloads are not encrypted: encryption.keys are for reading, and encryption.write-key is not set", "keys", status.Keys)
	case status.Require.IsZero():
		log.Info("payloads are encrypted", "writeKey", status.WriteKey, "keys", status.Keys)
	default:
		log.Info("payloads are encrypted, and clear ones of later runs are refused", "writeKey", status.WriteKey, "keys", status.Keys, "require", status.Require)
	}
}

// maxSampledRuns is the number of runs whose keys a worker checks before it serves.
const maxSampledRuns = 20

// warnOfKeys warns if this worker lacks the keys of some of the newest runs of its task queue.
// Their tasks fail and wait for another worker; it serves all others.
func (p *process) warnOfKeys(ctx context.Context) {
	page, err := p.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: p.namespace, PageSize: maxSampledRuns,
		Query: workflows.RunningQuery() + " AND TaskQueue = '" + strings.ReplaceAll(p.settings.TaskQueue, "'", "''") + "'",
	})
	if err != nil {
		return // the check is a courtesy: tasks that cannot be read fail by themselves
	}
	var unread []string
	var first error
	for _, info := range page.GetExecutions() {
		if err := p.converters.CheckMemo(p.namespace, info); err != nil {
			unread, first = append(unread, info.GetExecution().GetWorkflowId()), cmp.Or(first, err)
		}
	}
	if first != nil {
		p.log.Warn("some workflows cannot be read: their tasks fail until a worker has the key (docs/encryption.md)",
			"unreadable", len(unread), "of", len(page.GetExecutions()), "workflow", unread[0], "error", first)
	}
}

// keyFlags are the flags with which a command beside the worker finds its keys.
type keyFlags struct{ config, keys, writeKey string }

func (k *keyFlags) register(flags *flag.FlagSet) {
	flags.StringVar(&k.config, "config", "", "config file of the worker, of which the sections encryption and azure are used ("+config.FileVariable+")")
	flags.StringVar(&k.keys, "encryption-keys", "", "keys of encrypted payloads, as in the worker's configuration ("+encryption.KeysVariable+")")
	flags.StringVar(&k.writeKey, "encryption-write-key", "", "ID of the key for /encode ("+encryption.WriteKeyVariable+")")
}

// load returns the converters of the flags, the variables and the worker's config file. It
// reads no configuration where none of them is set.
func (k *keyFlags) load(ctx context.Context, options Options) (*payload.Converters, error) {
	embedded := payload.Options{Base: options.DataConverter, Codecs: options.PayloadCodecs}
	var args []string
	for flag, value := range map[string]string{"config": k.config, "encryption-keys": k.keys, "encryption-write-key": k.writeKey} {
		if value != "" {
			args = append(args, "--"+flag+"="+value)
		}
	}
	if len(args) == 0 && os.Getenv(config.FileVariable) == "" && os.Getenv(encryption.KeysVariable) == "" {
		return payload.New(embedded) //nolint:wrapcheck // there are no keys that could be wrong
	}
	settings, err := config.Load(args)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	azure, err := newAzure(settings, options.Version, func(arm.Request) {}, nil, nil)
	if err != nil {
		azure = nil // only keys in key vaults need it, and report that it is missing
	}
	return newConverters(ctx, settings, azure, embedded)
}
