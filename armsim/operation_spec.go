package armsim

import "time"

// Shape is how the server communicates that an operation is in progress.
type Shape string

// The shapes of recorded traffic.
const (
	ShapeSync     Shape = "sync"     // complete with the response
	ShapeAsync    Shape = "async"    // Azure-AsyncOperation only
	ShapeLocation Shape = "location" // Location only
	ShapeBoth     Shape = "both"     // Azure-AsyncOperation and Location
	ShapeState    Shape = "state"    // no header: properties.provisioningState alone
	ShapeSelf     Shape = "self"     // complete with the response, and Location is the URL of the resource
)

// OperationSpec describes a long-running operation. Zero fields take the value of the
// type's built-in row, then of the shape.
type OperationSpec struct {
	Shape Shape `json:"shape,omitempty"`
	// Status is the first response's; 0 means 201 for a create, 200 for an
	// update, 202 for a delete and for a PUT by Location.
	Status int `json:"status,omitempty"`
	// Seconds is the simulated duration. An operation ends after this time and after
	// Polls reads that found it in progress.
	Seconds float64 `json:"seconds,omitempty"`
	// Polls is the number of reads of the operation (or of the resource) that find it
	// still in progress.
	Polls int `json:"polls,omitempty"`
	// RetryAfter is in simulated seconds: of the first response, then of each poll; the
	// last one repeats. 0 omits the header.
	RetryAfter []float64 `json:"retryAfter,omitempty"`
	// State is the provisioningState while in progress; default Creating, Updating or
	// Deleting. FirstState appears in the first response only.
	State      string `json:"state,omitempty"`
	FirstState string `json:"firstState,omitempty"`
	// StatusWord is the status of the operation while in progress; default InProgress.
	StatusWord string `json:"statusWord,omitempty"`
	// Outcome is Succeeded (default), Failed or Canceled; the latter two with an error.
	Outcome      string `json:"outcome,omitempty"`
	ErrorCode    string `json:"errorCode,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`
	// ErrorDetails are the details of the error: code, message and target of each.
	ErrorDetails []any `json:"errorDetails,omitempty"`
	// ErrorStatus is the final HTTP status of a failed poll by Location; default 400.
	ErrorStatus int `json:"errorStatus,omitempty"`
	// RelativeLocation sends operation URLs without scheme and host.
	RelativeLocation bool `json:"relativeLocation,omitempty"`
	// HiddenUntilDone makes a new resource 404 until its creation is done.
	HiddenUntilDone bool `json:"hiddenUntilDone,omitempty"`
	// UnderResource puts operation URLs under the resource's own path and distinguishes
	// them by a query parameter, as Microsoft.ApiManagement does.
	UnderResource bool `json:"underResource,omitempty"`
	// URLPadding lengthens operation URLs, in bytes: clients must accept 4 KB.
	URLPadding int `json:"urlPadding,omitempty"`
	// StatusWords are the statuses of successive polls, instead of StatusWord; the last
	// one repeats.
	StatusWords []string `json:"statusWords,omitempty"`
	// PollStatus is the HTTP status of the Azure-AsyncOperation URL while in progress;
	// default 200.
	PollStatus int `json:"pollStatus,omitempty"`
	// FinalStatus is the final HTTP status of the Location URL; default 204 for a
	// delete, else 200. EmptyFinal omits its body.
	FinalStatus int  `json:"finalStatus,omitempty"`
	EmptyFinal  bool `json:"emptyFinal,omitempty"`
	// OperationAPIVersion is the api-version in the operation's URLs; default the
	// request's.
	OperationAPIVersion string `json:"operationApiVersion,omitempty"`
	// RetryAfterDate sends Retry-After as an HTTP date.
	RetryAfterDate bool `json:"retryAfterDate,omitempty"`
	// DeleteBody returns the resource in the first response of a DELETE.
	DeleteBody bool `json:"deleteBody,omitempty"`
	// EmptyBody omits the body of the first response.
	EmptyBody bool `json:"emptyBody,omitempty"`
}

func (s OperationSpec) duration() time.Duration { return seconds(s.Seconds) }

// retryAfter returns the wait of the n-th response; 0 is the first one, before any
// poll.
func (s OperationSpec) retryAfter(n int) time.Duration {
	if len(s.RetryAfter) == 0 {
		return 0
	}
	return seconds(s.RetryAfter[min(n, len(s.RetryAfter)-1)])
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// override replaces the state and status word where they are not empty.
func (s *OperationSpec) override(state, word string) {
	if state != "" {
		if s.FirstState == s.State {
			s.FirstState = state
		}
		s.State = state
	}
	if word != "" {
		s.StatusWord = word
	}
}

// operationBody returns the body of a first response that names the operation only, nil
// for other types.
func (s *Simulator) operationBody(resourceType string) any {
	if name := s.ruleFor(resourceType).operationBodyName; name != "" {
		return object{"operation": name, "startTime": timestamp(s.clock.now())}
	}
	return nil
}
