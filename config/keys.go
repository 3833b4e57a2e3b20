package config

import "strings"

// envPrefix is the prefix of every variable that sets a key.
const envPrefix = "ARMATURE_"

// FileVariable is the variable with the path of the config file; --config overrides it.
const FileVariable = envPrefix + "CONFIG"

const (
	listenKey = "http.listen"
	// podVariable is in the environment of every container of a pod.
	podVariable = "KUBERNETES_SERVICE_HOST"
	// podListen is the default of listenKey in a pod: probes and Prometheus come from the
	// node and other pods, which do not reach a loopback address.
	podListen = ":9464"
)

// key is one row of the configuration: its name in the file, its default as text, and
// its meaning.
type key struct {
	name    string
	initial string
	usage   string
}

// keys returns all keys. Flags, variables, defaults and the check for unknown names
// use this table alone.
func keys() []key {
	return []key{
		{"task-queue", "armature", "Temporal task queue to serve"},
		{"log.level", "info", "debug, info, warn or error"},
		{"log.format", "json", "json or text"},
		{listenKey, "127.0.0.1:9464", "host:port of /healthz, /readyz and /metrics; in a pod of Kubernetes " + podListen + " (all addresses) is the default, where probes reach it; empty disables them"},
		{"metrics.interval", "1m", "how often one of the workers counts the resources of the task queue by state for /metrics; 0s disables it"},
		{"metrics.label", "", "label of manifests by whose values the resources are counted too; then each count lists all resources, one request per 250"},
		{"azure.cloud", CloudPublic, "public, government, china or custom"},
		{"azure.endpoint", "", "ARM endpoint of a custom cloud: https://host[:port]"},
		{"azure.audience", "", "token audience of a custom cloud; empty is the endpoint"},
		{"azure.authority-host", "", "token authority of a custom cloud: https://host[:port]"},
		{"azure.ca-file", "", "PEM file of certificate authorities to trust besides the system's"},
		{"azure.disable-instance-discovery", "false", "do not check the authority with Microsoft; always on for a custom cloud"},
		{"azure.vault-suffix", "", "suffix of the hosts of a custom cloud's key vaults, for example vault.example; empty allows no $secret keyvault: there"},
		{"azure.register-providers", "true", "register missing resource providers in subscriptions; when false, the resource's status has the command to run"},
		{"azure.credential", CredentialDefault, "default, workload-identity, managed-identity, client-secret, client-certificate, azure-cli, or none (loopback only)"},
		{"azure.tenant-id", "", "tenant of the credential; else AZURE_TENANT_ID"},
		{"azure.client-id", "", "application of the credential, or client ID or resource ID of a user-assigned managed identity; else AZURE_CLIENT_ID"},
		{"azure.client-secret", "", "reference to its secret: env:NAME or file:PATH; else AZURE_CLIENT_SECRET"},
		{"azure.certificate", "", "PEM or PKCS#12 file of client-certificate; else AZURE_CLIENT_CERTIFICATE_PATH"},
		{"azure.certificate-password", "", "reference to its password: env:NAME or file:PATH; else AZURE_CLIENT_CERTIFICATE_PASSWORD"},
		{"azure.send-certificate-chain", "false", "send the certificate with each token request (subject name and issuer authentication)"},
		{"azure.token-file", "", "federated token of workload-identity; else AZURE_FEDERATED_TOKEN_FILE"},
		{"azure.auxiliary-tenants", "", "tenants, separated by commas, whose tokens accompany each request; at most three"},
		{"azure.budget-share", "1", "part of each subscription's request budget that this worker may use, above 0 and at most 1; the rest is left to other clients of the same principal"},
		{"azure.user-agent-suffix", "", "text at the end of the User-Agent of requests to ARM, to find them in Azure's logs; at most 64 characters"},
		{"secrets.env-prefix", envPrefix + "SECRET_", "prefix of the variables that $secret env: may read; empty allows none, which is also the default once a credential is tied or has secrets of its own"},
		{"secrets.dir", "", "folder that $secret file: may read; empty allows none"},
		{"export.vaults", "", "secrets that exports of manifests may write, separated by commas, each as https://VAULT.vault.azure.net/secrets/PREFIX*; empty allows none"},
		{"rules.path", "", "rule file, or folder of rule files (*.yaml), for checks without Go; empty is none"},
		{"rules.reload", "10s", "interval at which changed rule files are loaded; 0s disables it"},
		{"feed.source", FeedOff, "where changes of resources are read: off, resource-graph (what Azure Resource Graph records of all that a credential sees), or queue (a storage queue that Event Grid fills)"},
		{"feed.queue", "", "storage queue of feed.source queue: https://ACCOUNT.queue.core.windows.net/QUEUE; azure.credential receives its messages, and no other fleet may"},
		{"feed.interval", "0s", "time between two readings of a source, at most 10m; 0s is 2m for resource-graph, one query for each credential, and 5s for queue"},
		{"read-only", "false", "send nothing that could change Azure: read, plan and compare only"},
		{"observe", "", "only observe resources, whatever policy their manifests state: report what differs, write and delete nothing. true is every resource; else selectors of labels as in armature freeze -l, separated by semicolons: stack=crowd;stack=data,env=prod"},
		{"start-frozen", "", "after a restore of Temporal's database: write nothing until armature unfreeze. A name, such as the date of the restore, does so once; true at every start of a worker"},
		{"generation-fence", FenceOff, "off, or blob: a blob container records the newest generation of each resource outside of Temporal, so that an older database writes nothing"},
		{"generation-fence-container", "", "blob container of generation-fence blob: https://ACCOUNT.blob.core.windows.net/CONTAINER; azure.credential reads and writes it"},
		{"reread-window", "60s", "how long a read that contradicts an accepted write, or shows a known resource as absent, is repeated before it counts"},
		{"settle-time", "15m", "how long after an accepted PUT an absent resource does not count as deleted outside Armature"},
		{"stop-timeout", "30s", "time for running activities to finish at shutdown"},
		{"put-budget", "200", "maximum of resources per hour in which the workers of a task queue correct drift; 0 is unlimited"},
		{"disappearance-budget", "5", "maximum of resources per hour that the workers of a task queue recreate after they were deleted outside Armature; 0 is unlimited"},
		{"workflow-cache", "12000", "idle resources that this worker keeps in memory (about 30 KB each with a body of 5 KB); a pass of any other replays its history first"},
		{"worker.pollers", PollersAuto, "pollers for each kind of task: auto (as many as latency and load need) or a number"},
		{"worker.workflow-slots", "1000", "maximum of workflow tasks at the same time, with the fixed tuner"},
		{"worker.activity-slots", "1000", "maximum of activities at the same time, with the fixed tuner"},
		{"worker.tuner", TunerFixed, "fixed (by the two settings above) or resources: tasks are taken up to target-memory and target-cpu"},
		{"worker.target-memory", "0.8", "part of the machine's or container's memory for the tuner resources, above 0 and at most 1"},
		{"worker.target-cpu", "0.9", "part of the machine's or container's processors for the tuner resources, above 0 and at most 1"},
		{"worker.priorities", "true", "activities that a user waits for go before wakes, and wakes before resyncs; needs a Temporal server with task queue priorities"},
		{"worker.fairness", "false", "share the workers between subscriptions while activities wait; needs a Temporal server with task queue fairness"},
		{"worker.lists-per-second", "4", "maximum of list requests per second of all workers of the task queue together; a namespace allows 10 per second to all of its clients"},
		{"worker.deployment", "", "worker deployment of Temporal that this worker is a version of, so that a run stays on the version that began it; else TEMPORAL_DEPLOYMENT_NAME; empty is a worker without versions"},
		{"worker.build-id", "", "build ID of this worker's version; else TEMPORAL_WORKER_BUILD_ID; empty is the program's version and a hash of its file"},
		{"worker.first-version", FirstAuto, "whether this worker makes its version current where the deployment never had a current version: current, wait (for armature rollout promote, or a controller), or auto (wait with TEMPORAL_WORKER_BUILD_ID, else current)"},
		{"overdue-after", "1h", "how long a resource may be blocked or not ready before its condition is an error; 0 is never"},
		{"overdue-exempt", "Stopped,Deallocated,Paused", "states in which a resource, or its owner, was stopped on purpose and is never overdue"},
		{"signing.public-keys", "", "public keys, separated by commas, in base64: this worker writes and deletes only what one of them signed; empty checks no signatures"},
		{"signing.mode", SigningRequire, "require, or warn: write all the same, and log what is not signed"},
		{"signing.max-age", "0", "how long a signed spec counts: nothing is written for an older one until its manifest is applied again; 0 is for ever"},
		{"encryption.keys", "", "keys of encrypted payloads, separated by commas, each as ID=env:NAME, ID=file:PATH, ID=keyvault:https://VAULT.vault.azure.net/secrets/NAME or ID=wrapped:PATH; the same for all workers, the CLI and the codec server; empty reads clear payloads only"},
		{"encryption.write-key", "", "ID of the key that encrypts what this worker writes to Temporal; empty writes clear payloads"},
		{"encryption.require", "", "time in RFC 3339, for example 2026-12-01T00:00:00Z: clear payloads of runs that began then or later are refused; all workers, CLIs and embedders must encrypt by then; empty refuses none"},
		{"audit.stdout", "false", "write the audit trail to standard output, one line of JSON for each event"},
		{"audit.file", "", "file to which the audit trail is appended; it may be moved away at any time (log rotation); empty is none"},
		{"audit.fsync", "true", "a line of audit.file reaches the disk before the write that it announces is sent; false leaves that to the system"},
		{"audit.url", "", "HTTPS endpoint that gets the audit trail: POST of lines (application/x-ndjson); empty is none"},
		{"audit.token", "", "reference to the bearer token for audit.url, read again for each request: env:NAME or file:PATH"},
		{"audit.on-failure", AuditStop, "stop (nothing is sent to Azure without its line) or continue, while the audit trail cannot be written"},
		{"audit.timeout", "10s", "how long a write waits for its line"},
		{"callers.issuers", "", "issuers of the tokens that users and pipelines send (ARMATURE_TOKEN), separated by commas, each with the audience of its tokens: https://ISSUER=AUDIENCE; the audit trail names verified senders, and a token that is not accepted refuses its message; empty verifies none"},
		{"mask-key", "", "reference to the key of the hashes that replace secret values, the same for all workers: env:NAME or file:PATH; required outside of this machine (loopback), where none stands for masks without hashes"},
	}
}

// flag returns the name of the key's flag, without leading dashes.
func (k key) flag() string { return strings.ReplaceAll(k.name, ".", "-") }

// bare returns the value of the key's flag without a value, "" where it needs one.
func (k key) bare() string {
	if k.name == "read-only" || k.name == "observe" || k.name == "start-frozen" || k.name == "audit.stdout" {
		return "true"
	}
	return ""
}

// variable returns the environment variable of the key.
func (k key) variable() string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.name))
}

// Variables returns the names of all environment variables of the worker, in the
// order of the keys, [FileVariable] first.
func Variables() []string {
	names := []string{FileVariable}
	for _, k := range keys() {
		names = append(names, k.variable())
	}
	return names
}

// Keys returns the names of all keys.
func Keys() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}
