package armsim

import "time"

// Options configures a Simulator. The zero value works: every subscription exists, no
// token is required, nothing is throttled, and time runs at its real pace.
type Options struct {
	// Seed makes request IDs, GUIDs, keys and fault probabilities repeatable.
	Seed int64
	// TimeScale is the number of simulated seconds per real second; 0 means 1.
	TimeScale float64
	// Clock returns the real time; nil means time.Now.
	Clock func() time.Time

	// Subscriptions are the GUIDs that exist; others are 404 SubscriptionNotFound.
	// Empty means that every GUID exists.
	Subscriptions []string
	// TenantID is the one tenant of the token endpoint; empty accepts any tenant.
	TenantID string

	// RequireAuth refuses ARM requests without a token of the token endpoint.
	RequireAuth bool
	// ClientID and ClientSecret identify the one application that gets tokens;
	// empty accepts any value.
	ClientID, ClientSecret string
	// Audience is the one required audience of tokens, without "/.default"; empty
	// accepts any.
	Audience string

	// PageSize is the number of items in one page of a list; 0 means 1000.
	PageSize int
	// MaxRequests bounds the request log and the write log, in entries; 0 means 10000.
	MaxRequests int
	// ReadAfterWrite is the simulated time for which a GET still returns the state
	// before a write, and after an operation the state in which it was.
	ReadAfterWrite time.Duration
	// Replicas is the number of replicas that serve GETs of a resource in turn; 0 means 1.
	// With more than one, only the last one lags by ReadAfterWrite, so that a GET may show an
	// older state than the GET before it. Lists lag always.
	Replicas int
	// ListLag is the simulated time for which the list of all resources of a group or
	// subscription, and Resource Graph, lack a new resource and still have a deleted one;
	// 0 for none.
	ListLag time.Duration
	// Approval is the simulated time for which an automatic connection of a private
	// endpoint is Pending; 0 means 20 s.
	Approval time.Duration
	// ManualApproval is the simulated time after which a manual connection of a private
	// endpoint is approved; 0 means that it stays Pending until Approve.
	ManualApproval time.Duration
	// PrivateEndpointInterfaces creates the network interface that Azure makes for a
	// private endpoint, as a resource in the same group.
	PrivateEndpointInterfaces bool
	// Throttle configures the token buckets; the zero value throttles nothing.
	Throttle Throttle
	// Operations shape long-running operations; they take precedence over the built-in
	// table.
	Operations []OperationRule
	// Answers are the forms in which providers respond; the last one that matches counts.
	Answers []AnswerRule
	// Recordings supply the responses to PUTs of their IDs, and to the GETs after them.
	Recordings []Recording
	// Policies change or refuse bodies.
	Policies []Policy
	// RequireRegistration starts every subscription without registered providers,
	// except those that ARM always registers (Microsoft.Resources and
	// Microsoft.Authorization).
	RequireRegistration bool
	// Validate refuses bodies that differ from what is published of their type: unknown
	// properties, values of another kind or outside of a closed list, and creations
	// without required properties. Without it such properties are dropped or stored, as
	// most providers do.
	Validate bool
	// Secrets add server-made keys to the GET of a type.
	Secrets []SecretRule
	// VaultSuffix is the suffix of the hosts that are key vaults, for example vault.example;
	// "" serves none. Every vault exists.
	VaultSuffix string
	// Changes configures how changes are reported to clients that ask for them.
	Changes ChangeReports
	// EventQueues are storage queues that get the events of all changes.
	EventQueues []QueueSubscription
	// RefusedETags are globs over types that show an ETag and refuse it in If-Match
	// (412). No provider documents that it does.
	RefusedETags []string
}

const (
	defaultPageSize    = 1000
	defaultMaxRequests = 10000
	maxBodyBytes       = 4 << 20 // ARM's own limit
	maxOperations      = 10000
)

func (o Options) withDefaults() Options {
	if o.TimeScale <= 0 {
		o.TimeScale = 1
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.PageSize <= 0 {
		o.PageSize = defaultPageSize
	}
	if o.Approval <= 0 {
		o.Approval = defaultApproval
	}
	o.Changes = o.Changes.withDefaults()
	if o.MaxRequests <= 0 {
		o.MaxRequests = defaultMaxRequests
	}
	return o
}
