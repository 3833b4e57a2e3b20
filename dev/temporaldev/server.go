// Package temporaldev runs Temporal inside one process, for the demo and the e2e tests:
// the real server on a SQLite file, the real Web UI, and the codec server that decodes
// compressed payloads for it.
//
// Everything listens on loopback only. The package does not know resources; search
// attributes are a parameter. It is not for production: one history shard, no
// authorization, no TLS.
package temporaldev

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/armature-io/armature/dev/internal/freeport"
)

const (
	// Namespace is the namespace of every server of this package.
	Namespace = "default"

	// DatabaseFile is the name of the server's database in its folder.
	DatabaseFile = "temporal.db"
	// LogFile is the name of the server's log in its folder.
	LogFile = "temporal.log"

	loopback  = "127.0.0.1"
	retention = 7 * 24 * time.Hour
	// startTimeout is generous: a server starts in a second, but a laptop may be
	// compiling at the same time.
	startTimeout = 60 * time.Second
)

// Options configures a [Server]. The zero value works: a free port, no search
// attributes.
type Options struct {
	// Port is the port of the frontend (gRPC); 0 picks a free one.
	Port int
	// SearchAttributes are registered when the database is created. An existing
	// database keeps its own: the worker registers missing ones.
	SearchAttributes map[string]enumspb.IndexedValueType
	// ContinueAsNewAfter is the number of events after which the server suggests
	// continue-as-new; 0 means the server's default.
	ContinueAsNewAfter int
	// Actions counts the server's billed actions, unless it is nil.
	Actions *Actions
}

// Server is a running Temporal server.
type Server struct {
	server  temporal.Server
	address string
}

// Start starts a server with its database and log in folder, and waits until it is
// ready. It creates the folder if needed. The state of an earlier server in the folder
// is kept.
func Start(ctx context.Context, folder string, options Options) (*Server, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("create folder of the temporal server: %w", err)
	}
	reserved, err := freeport.Reserve(options.Port, 0, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("start temporal server: %w", err)
	}
	defer reserved.Release() // the server listens by then
	ports := portsOf(reserved.Numbers)
	database := filepath.Join(folder, DatabaseFile)
	cfg := serverConfig(database, ports)
	isNew, err := prepareDatabase(database, cfg, options.SearchAttributes)
	if err != nil {
		return nil, err
	}
	logger, err := fileLogger(filepath.Join(folder, LogFile))
	if err != nil {
		return nil, err
	}
	server, err := newServer(cfg, ports, logger, options.Actions, dynamicConfig(options, isNew))
	if err != nil {
		return nil, fmt.Errorf("build temporal server: %w", err)
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start temporal server: %w", err)
	}
	s := &Server{server: server, address: ports.frontend()}
	if err := s.waitReady(ctx); err != nil {
		_ = s.Stop() // the reason for the failed start matters more
		return nil, fmt.Errorf("%w; its log is %s", err, filepath.Join(folder, LogFile))
	}
	return s, nil
}

// Address returns host:port of the frontend, in the form of TEMPORAL_ADDRESS.
func (s *Server) Address() string { return s.address }

// Stop stops the server. Its folder can be started again afterwards.
func (s *Server) Stop() error {
	if err := s.server.Stop(); err != nil {
		return fmt.Errorf("stop temporal server: %w", err)
	}
	return nil
}

// prepareDatabase creates missing tables and the namespace, and reports whether it
// created the tables.
func prepareDatabase(database string, cfg *config.Config, attributes map[string]enumspb.IndexedValueType) (isNew bool, err error) {
	store := cfg.Persistence.DataStores[storeName].SQL
	if _, err := os.Stat(database); os.IsNotExist(err) {
		isNew = true
		if err := sqlite.SetupSchema(store); err != nil {
			return false, fmt.Errorf("create tables in %s: %w", database, err)
		}
	}
	namespace, err := sqlite.NewNamespaceConfig(clusterName, Namespace, false, attributes)
	if err != nil {
		return false, fmt.Errorf("describe namespace %s: %w", Namespace, err)
	}
	namespace.Detail.Config.Retention = durationpb.New(retention)
	if err := sqlite.CreateNamespaces(store, namespace); err != nil {
		return false, fmt.Errorf("create namespace %s in %s: %w", Namespace, database, err)
	}
	return isNew, nil
}

func newServer(cfg *config.Config, ports ports, logger log.Logger, actions *Actions, values dynamicconfig.StaticClient) (temporal.Server, error) {
	authorizer, err := authorization.GetAuthorizerFromConfig(&cfg.Global.Authorization)
	if err != nil {
		return nil, err
	}
	claimMapper, err := authorization.GetClaimMapperFromConfig(&cfg.Global.Authorization, logger)
	if err != nil {
		return nil, err
	}
	options := []temporal.ServerOption{
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(ports.staticHosts()),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claimMapper }),
		temporal.WithDynamicConfigClient(values),
	}
	if actions != nil {
		options = append(options, temporal.WithCustomMetricsHandler(actions.handler()))
	}
	return temporal.NewServer(options...)
}

func dynamicConfig(options Options, isNew bool) dynamicconfig.StaticClient {
	values := dynamicconfig.StaticClient{
		// More partitions are for several matching services: tasks and polls of another
		// partition are forwarded, two calls of 43 per creation.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
	}
	// Without a forced refresh the server does not know search attributes of the worker
	// for up to a minute. If all were registered with the tables, no worker registers
	// any; then the refresh would only cost four of ten requests to the database.
	if !isNew || len(options.SearchAttributes) == 0 {
		values[dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key()] = true
	}
	if options.ContinueAsNewAfter > 0 {
		values[dynamicconfig.HistoryCountSuggestContinueAsNew.Key()] = options.ContinueAsNewAfter
	}
	return values
}

// waitReady returns when the frontend serves and knows the namespace.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c, err := client.NewLazyClient(client.Options{HostPort: s.address, Namespace: Namespace, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return fmt.Errorf("create client of the temporal server: %w", err)
	}
	defer c.Close()
	return waitUntil(ctx, "temporal server at "+s.address, func(ctx context.Context) error {
		_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{})
		return err
	})
}
