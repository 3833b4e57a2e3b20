package armsim

import "time"

// Options configures a Simulator. The zero value works: any subscription is
// known, no token is needed, nothing is throttled, time runs at its own pace.
type Options struct {
	// Seed makes request IDs, GUIDs, keys and fault probabilities repeatable.
	Seed int64
	// TimeScale is simulated seconds per real second; 0 means 1.
	TimeScale float64
	// Clock is the real time; nil means time.Now.
	Clock func() time.Time

	// Subscriptions are the GUIDs that exist; others answer 404
	// SubscriptionNotFound. Empty means that every GUID exists.
	Subscriptions []string
	// TenantID of the token endpoint; empty accepts any tenant.
	TenantID string

	// RequireAuth refuses ARM calls without a token of the token endpoint.
	RequireAuth bool
	// ClientID and ClientSecret are the one application that gets tokens.
	// Empty values accept any.
	ClientID, ClientSecret string
	// Audience is the one that tokens must be for, without "/.default"; empty
	// accepts any.
	Audience string

	// PageSize is the number of items in one page of a list; 0 means 1000.
	PageSize int
	// MaxRequests bounds the request log and the write log; 0 means 10000.
	MaxRequests int
	// ReadAfterWrite is how long (simulated) a GET still shows what was there
	// before a write.
	ReadAfterWrite time.Duration
	// Approval is how long (simulated) an automatic connection of a private
	// endpoint is Pending; 0 means 20 s.
	Approval time.Duration
	// ManualApproval is how long (simulated) a manual connection of a private
	// endpoint is Pending until somebody approves it; 0 means for ever, until
	// Approve.
	ManualApproval time.Duration
	// PrivateEndpointInterfaces lets a private endpoint bring the network interface
	// that Azure makes for it: a resource that nobody asked for, in the same group.
	PrivateEndpointInterfaces bool
	// Throttle holds the token buckets; the zero value throttles nothing.
	Throttle Throttle
	// Operations shape long-running operations, before the built-in table.
	Operations []OperationRule
	// Recordings answer PUTs of their IDs, and the GETs after them.
	Recordings []Recording
	// Policies change or refuse bodies.
	Policies []Policy
	// RequireRegistration lets every subscription start without registered
	// providers but those that ARM itself brings (Microsoft.Resources and
	// Microsoft.Authorization).
	RequireRegistration bool
	// Secrets add server-made keys to the GET of a type.
	Secrets []SecretRule
}

const (
	defaultPageSize    = 1000
	defaultMaxRequests = 10000
	maxBodyBytes       = 4 << 20 // ARM refuses larger bodies
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
	if o.MaxRequests <= 0 {
		o.MaxRequests = defaultMaxRequests
	}
	return o
}
