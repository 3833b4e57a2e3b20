package temporaldev

import (
	"net/url"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"

	"github.com/armature-io/armature/dev/internal/freeport"
)

const (
	clusterName = "active"
	storeName   = sqlite.PluginName
	// connections is the size of the database pool. With more than one connection, a
	// transaction that reads and then writes fails with SQLITE_BUSY_SNAPSHOT if another
	// one wrote in between, and busy_timeout does not help.
	connections = 1
)

// serverConfig returns the configuration that a config file of the Temporal server
// would contain. Metrics and pprof stay off, so that two servers can run side by side.
func serverConfig(database string, ports ports) *config.Config {
	cfg := &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     storeName,
			VisibilityStore:  storeName,
			NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{storeName: {SQL: &config.SQL{
				PluginName:   sqlite.PluginName,
				DatabaseName: (&url.URL{Path: database}).EscapedPath(), // part of a URI
				MaxConns:     connections,
				MaxIdleConns: connections,
				// The file keeps all confirmed writes when the process is killed.
				ConnectAttributes: map[string]string{
					"mode":         "rwc",
					"journal_mode": "wal",
					"synchronous":  "normal",
					"busy_timeout": "10000", // milliseconds
				},
			}}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled:                true,
				InitialFailoverVersion: 1,
				RPCAddress:             ports.frontend(),
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{},
		PublicClient:        config.PublicClient{HostPort: ports.frontend()},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	cfg.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback}
	for service, port := range ports {
		cfg.Services[string(service)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: loopback}}
	}
	return cfg
}

// ports are the gRPC ports of the server's four services.
type ports map[primitives.ServiceName]int

// portsOf assigns ports to the services, the frontend first.
func portsOf(picked []int) ports {
	return ports{
		primitives.FrontendService: picked[0],
		primitives.HistoryService:  picked[1],
		primitives.MatchingService: picked[2],
		primitives.WorkerService:   picked[3],
	}
}

func (p ports) frontend() string { return freeport.Address(p[primitives.FrontendService]) }

// staticHosts replaces the gossip by which the services of a cluster find each other,
// and its four more ports.
func (p ports) staticHosts() map[primitives.ServiceName]static.Hosts {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for service, port := range p {
		hosts[service] = static.SingleLocalHost(freeport.Address(port))
	}
	return hosts
}
