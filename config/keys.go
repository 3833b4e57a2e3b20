package config

import (
	"strings"
)

// envPrefix begins the name of every variable that sets a key.
const envPrefix = "ARMATURE_"

// FileVariable names the config file where --config does not.
const FileVariable = envPrefix + "CONFIG"

// key is one row of the configuration: its name in the file, its default (of
// the type that a flag shows) and its meaning.
type key struct {
	name    string
	initial string
	usage   string
}

// keys are all keys. Flags, variables, defaults and the check for unknown names
// come from this table alone.
func keys() []key {
	return []key{
		{"task-queue", "armature", "Temporal task queue to serve"},
		{"log.level", "info", "debug, info, warn or error"},
		{"log.format", "json", "json or text"},
		{"http.listen", "127.0.0.1:9464", "host:port of /healthz, /readyz and /metrics; empty serves none"},
		{"azure.cloud", CloudPublic, "public, government, china or custom"},
		{"azure.endpoint", "", "ARM endpoint of a custom cloud, as https://host[:port]"},
		{"azure.audience", "", "token audience of a custom cloud; empty takes the endpoint"},
		{"azure.authority-host", "", "token authority of a custom cloud, as https://host[:port]"},
		{"azure.ca-file", "", "PEM file of certificate authorities to trust beside the system's"},
		{"azure.disable-instance-discovery", "false", "do not ask Microsoft about the authority; on by itself for a custom cloud"},
		{"azure.vault-suffix", "", "what the hosts of a custom cloud's key vaults end with, as vault.example; empty allows no $secret keyvault: there"},
		{"azure.register-providers", "true", "register a resource provider in a subscription that lacks it; off, the resource says what to run"},
		{"azure.credential", CredentialDefault, "default, workload-identity, managed-identity, client-secret, client-certificate, azure-cli, or none (loopback only)"},
		{"azure.tenant-id", "", "tenant of the credential; else AZURE_TENANT_ID"},
		{"azure.client-id", "", "application of the credential, or client ID or resource ID of a user-assigned managed identity; else AZURE_CLIENT_ID"},
		{"azure.client-secret", "", "where its secret is: env:NAME or file:PATH; else AZURE_CLIENT_SECRET"},
		{"azure.certificate", "", "PEM or PKCS#12 file of client-certificate; else AZURE_CLIENT_CERTIFICATE_PATH"},
		{"azure.certificate-password", "", "where its password is: env:NAME or file:PATH; else AZURE_CLIENT_CERTIFICATE_PASSWORD"},
		{"azure.send-certificate-chain", "false", "send the certificate with each token request (subject name and issuer authentication)"},
		{"azure.token-file", "", "federated token of workload-identity; else AZURE_FEDERATED_TOKEN_FILE"},
		{"azure.auxiliary-tenants", "", "tenants, with commas, whose tokens go with each request; at most three"},
		{"secrets.env-prefix", envPrefix + "SECRET_", "variables that $secret env: may name begin so; empty allows none"},
		{"secrets.dir", "", "the one folder that $secret file: may read; empty allows none"},
		{"rules.path", "", "rule file, or folder of rule files (*.yaml), for checks without Go; empty is none"},
		{"rules.reload", "10s", "how often rule files are looked at again; 0s never does"},
		{"reread-window", "60s", "how long a repeated PUT reads before it believes a 404"},
		{"stop-timeout", "30s", "how long activities in flight may go on at a stop"},
		{"put-budget", "200", "how many resources this worker may put back in an hour without being asked (drift); 0 for no bound"},
		{"workflow-cache", "12000", "how many sleeping resources this worker keeps in memory (some 30 KB each with a body of 5 KB); a pass of another one replays its history first"},
		{"overdue-after", "1h", "how long a resource may be blocked or not ready before its condition is an error; 0 for never"},
		{"overdue-exempt", "Stopped,Deallocated,Paused", "states in which a resource, or its owner, rests on purpose and is never overdue"},
		{"mask-key", "", "key of the hashes that stand for secret values: env:NAME or file:PATH"},
	}
}

// flag is the key as a flag, without dashes in front.
func (k key) flag() string { return strings.ReplaceAll(k.name, ".", "-") }

// variable is the environment variable of the key.
func (k key) variable() string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.name))
}

// Variables are the names of all environment variables that the worker knows,
// in the order of the keys, [FileVariable] first.
func Variables() []string {
	names := []string{FileVariable}
	for _, k := range keys() {
		names = append(names, k.variable())
	}
	return names
}

// Keys are the names of all keys.
func Keys() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}
