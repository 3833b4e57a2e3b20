package armsim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/armsim/published"
)

// Simulator is the state of the server and its http.Handler. It is safe for concurrent
// use. Delays (faults, gates, synchronous writes that take time) happen outside its
// lock.
type Simulator struct {
	options Options
	clock   *clock
	control *http.ServeMux
	rows    []typeRule
	// families and uses are tables of refusals.
	families []family
	uses     []useRule

	mu             sync.Mutex
	random         *rand.Rand
	resources      map[string]*resource
	operations     map[string]*operation
	operationOrder []string
	active         map[string]*operation // not done
	syncWrites     map[string]int        // in flight, by the root of their family
	operationRules []OperationRule
	holds          []Hold
	secretRules    []SecretRule
	faults         []*Fault
	nextFault      int
	denials        []Denial
	registrations  map[string]registration
	throttle       Throttle
	buckets        map[string]*bucket
	recordings     map[string][]Recording // by lower-cased ID
	policies       []Policy
	limits         []TypeLimit
	answers        []AnswerRule
	log            *requestLog
	deleted        map[string]*deletedResource // can be recovered; by lower-cased ID
	expiring       map[string]time.Time        // when Azure deletes a resource by itself
	vaultSecrets   map[string]*vaultSecret     // by vaultKey
	vaultDenials   []VaultDenial
	keyRounds      map[string]int         // regenerations, by GUID of the resource and name of the key
	removed        map[string]removed     // still in lists; by lower-cased ID
	graphCalls     map[string][]time.Time // times of queries by principal
	actor          actor                  // origin of the changes that take effect now
	reports        *reports
	queues         map[string]*storageQueue // by queueKey
}

// New returns a simulator without resources.
func New(options Options) *Simulator {
	options = options.withDefaults()
	s := &Simulator{
		options: options, clock: newClock(options.Clock, options.TimeScale),
		rows: typeRows(), families: familyRows(), uses: useRows(),
		random:     rand.New(rand.NewSource(options.Seed)),
		recordings: map[string][]Recording{}, secretRules: slices.Clone(options.Secrets),
		log: newRequestLog(options.MaxRequests),
	}
	for _, r := range options.Recordings {
		s.recordings[key(r.ID)] = append(s.recordings[key(r.ID)], r)
	}
	s.control = s.newControlMux()
	s.resetState(true)
	return s
}

// resetState clears the request log, the write log and the counters. With all it
// also returns to the options: resources, operations, faults, holds, denials,
// registrations and limits are dropped. Secret rules, secrets and the clock stay.
func (s *Simulator) resetState(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.reset()
	if !all {
		return
	}
	s.dropFault("")
	s.resources, s.operations, s.operationOrder = map[string]*resource{}, map[string]*operation{}, nil
	s.active, s.syncWrites = map[string]*operation{}, map[string]int{}
	s.operationRules, s.policies, s.limits = slices.Clone(s.options.Operations), slices.Clone(s.options.Policies), nil
	s.answers = slices.Clone(s.options.Answers)
	s.deleted, s.expiring = map[string]*deletedResource{}, map[string]time.Time{}
	s.removed, s.graphCalls = map[string]removed{}, map[string][]time.Time{}
	s.actor, s.reports, s.queues = systemActor(), newReports(s.options.Seed), map[string]*storageQueue{}
	s.holds, s.denials, s.registrations = nil, nil, map[string]registration{}
	s.vaultSecrets, s.vaultDenials, s.keyRounds = map[string]*vaultSecret{}, nil, map[string]int{}
	s.throttle, s.buckets = s.options.Throttle, map[string]*bucket{}
	for _, queue := range s.options.EventQueues {
		s.subscribe(queue)
	}
}

// locked runs change under the simulator's lock.
func (s *Simulator) locked(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// newGUID returns the next GUID of the seed.
func (s *Simulator) newGUID() string { return guidFrom(s.random) }

// derivedSecret returns a secret value of the server. The same seed, owner and name
// give the same value.
func (s *Simulator) derivedSecret(owner, name string) string {
	mac := hmac.New(sha256.New, []byte("armsim key "+strconv.FormatInt(s.options.Seed, 10)))
	_, _ = mac.Write([]byte(owner + "\x00" + name)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// request is one HTTP request and what the server found out about it.
type request struct {
	r             *http.Request
	target        target
	resourceType  string // for faults, counters and the log
	body          []byte
	apiVersion    string
	correlationID string
	requestID     string
	started       time.Time
	fault         string          // ID of the fault that fired
	syncWriteRoot string          // root of the family in which this write is in flight
	syncWriteTime time.Duration   // simulated duration of the write
	shape         *published.Node // of the body of a PUT or PATCH; nil if it is not published
}

// origin returns the scheme and host that the client used.
func (q *request) origin() string {
	scheme := "http"
	if q.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + q.r.Host
}

// principal returns the object ID in the token, which is not verified here; "" without
// a token.
func (q *request) principal() string { return text(q.claims(), "oid") }

// claims returns the claims of the token, which is not verified here; nil without a token.
func (q *request) claims() object {
	_, token, _ := strings.Cut(q.r.Header.Get("Authorization"), " ")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	claims, err := decodeObject(data)
	if err != nil {
		return nil
	}
	return claims
}

// ServeHTTP routes a request to ARM, a key vault, a queue, the token endpoint or the control API.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	vault := s.vaultOf(r)
	switch path := strings.ToLower(r.URL.Path); {
	case vault != "":
		s.serveVault(w, r, vault)
	case strings.HasPrefix(path, controlPrefix):
		s.serveControl(w, r)
	case strings.HasPrefix(path, queuePrefix):
		s.serveQueue(w, r)
	case isAuthPath(path):
		s.serveAuth(w, r)
	default:
		s.serveARM(w, r)
	}
}

func (s *Simulator) serveARM(w http.ResponseWriter, r *http.Request) {
	q, refused := s.parseRequest(w, r)
	resp := refused
	if resp == nil {
		resp = s.serveWithFaults(q, func() *response {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.completeDueOperations()
			defer s.actAs(actorOf(q))()
			return s.dispatch(q)
		})
	}
	s.awaitSyncWrite(q)
	s.mu.Lock()
	s.endSyncWrite(q)
	s.setCommonHeaders(resp, q)
	s.log.addRequest(s.clock.now(), q, resp)
	s.mu.Unlock()
	resp.write(w, r.Method == http.MethodHead)
}

// parseRequest reads the body and parses the path. The response is a refusal or nil.
func (s *Simulator) parseRequest(w http.ResponseWriter, r *http.Request) (*request, *response) {
	s.mu.Lock()
	q := &request{r: r, requestID: s.newGUID(), started: s.clock.now(), apiVersion: r.URL.Query().Get("api-version")}
	if q.correlationID = r.Header.Get("x-ms-correlation-request-id"); q.correlationID == "" {
		q.correlationID = s.newGUID()
	}
	s.mu.Unlock()

	body, err := readRequestBody(w, r)
	if err != nil {
		return q, gatewayError(http.StatusRequestEntityTooLarge, "RequestContentTooLarge",
			"The request content exceeds the maximum size of '%d' bytes.", maxBodyBytes)
	}
	q.body = body
	segments, ok := splitPath(r.URL)
	if !ok {
		return q, errPath(r.URL.Path)
	}
	if s.matchOperation(q, segments) {
		return q, nil
	}
	if len(segments) == 2 && strings.EqualFold(segments[0], "metadata") && strings.EqualFold(segments[1], "endpoints") {
		q.target.kind = kindMetadata
		return q, nil
	}
	if q.target, ok = parseTarget(segments); !ok {
		return q, errPath(r.URL.Path)
	}
	if q.target.kind == kindCollection && r.Method == http.MethodPost {
		q.target = q.target.toAction()
	}
	q.resourceType = q.target.resourceType()
	return q, nil
}

// matchOperation reports whether the URL is one of an operation: the name is known, or
// the path is one that only operations have. A resource type may be named "operations"
// too.
func (s *Simulator) matchOperation(q *request, segments []string) bool {
	n := len(segments)
	if n < 4 {
		return false
	}
	if query := q.r.URL.Query(); query.Has("azure-asyncId") || query.Has("asyncId") {
		segments = append(segments, "operations", query.Get("azure-asyncId")+query.Get("asyncId"))
		n = len(segments)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	op := s.operations[segments[n-1]]
	if op == nil && (!isOperationSegment(segments[n-2]) || !strings.EqualFold(segments[n-4], "locations") && n != 4) {
		return false
	}
	q.target.kind, q.target.action = kindOperation, segments[n-1]
	if strings.EqualFold(segments[0], "subscriptions") {
		q.target.subscription = segments[1]
	}
	if op != nil {
		q.target.id, q.resourceType = op.resource.id, op.resource.typ
	}
	return true
}

// isOperationSegment reports whether a path segment precedes the name of an operation.
func isOperationSegment(segment string) bool {
	return containsFold([]string{"operations", "operationresults", "operationstatuses", "azureasyncoperation"}, segment)
}
