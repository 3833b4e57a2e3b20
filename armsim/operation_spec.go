package armsim

import "time"

// Shape is how the server tells a client that it is not done yet.
type Shape string

// The shapes of recorded traffic.
const (
	ShapeSync     Shape = "sync"     // done with the answer
	ShapeAsync    Shape = "async"    // Azure-AsyncOperation only
	ShapeLocation Shape = "location" // Location only
	ShapeBoth     Shape = "both"     // Azure-AsyncOperation and Location
	ShapeState    Shape = "state"    // no header: properties.provisioningState alone
	ShapeSelf     Shape = "self"     // done with the answer, and Location names the resource itself
)

// OperationSpec describes a long-running operation. Zero fields take the value
// of the type's built-in row, then of the shape.
type OperationSpec struct {
	Shape Shape `json:"shape,omitempty"`
	// Status of the first answer; 0 = 201 for a create, 200 for an update, 202
	// for a delete and for a PUT by Location.
	Status int `json:"status,omitempty"`
	// Seconds is the simulated duration. An operation ends when the time has
	// passed and Polls reads found it in progress.
	Seconds float64 `json:"seconds,omitempty"`
	// Polls is how many reads of the operation (or of the resource) find it
	// still in progress.
	Polls int `json:"polls,omitempty"`
	// RetryAfter are simulated seconds: of the first answer, then of each poll;
	// the last one repeats. 0 leaves the header out.
	RetryAfter []float64 `json:"retryAfter,omitempty"`
	// State is the provisioningState meanwhile; default Creating, Updating or
	// Deleting. FirstState is shown by the first answer only.
	State      string `json:"state,omitempty"`
	FirstState string `json:"firstState,omitempty"`
	// StatusWord of the operation meanwhile; default InProgress.
	StatusWord string `json:"statusWord,omitempty"`
	// Outcome is Succeeded (default), Failed or Canceled, with an error.
	Outcome      string `json:"outcome,omitempty"`
	ErrorCode    string `json:"errorCode,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`
	// ErrorStatus is the final HTTP status of a failed poll by Location;
	// default 400.
	ErrorStatus int `json:"errorStatus,omitempty"`
	// RelativeLocation sends operation URLs without scheme and host.
	RelativeLocation bool `json:"relativeLocation,omitempty"`
	// HiddenUntilDone: a created resource answers 404 until it is done.
	HiddenUntilDone bool `json:"hiddenUntilDone,omitempty"`
	// UnderResource puts operation URLs under the resource's own path, told apart
	// by a query parameter only, as Microsoft.ApiManagement does.
	UnderResource bool `json:"underResource,omitempty"`
	// URLPadding makes operation URLs so many bytes longer: clients must take 4 KB.
	URLPadding int `json:"urlPadding,omitempty"`
	// StatusWords are the words of the operation poll by poll, instead of
	// StatusWord; the last one repeats.
	StatusWords []string `json:"statusWords,omitempty"`
	// PollStatus is the HTTP status of a read of the Azure-AsyncOperation URL
	// meanwhile; default 200.
	PollStatus int `json:"pollStatus,omitempty"`
	// FinalStatus is the HTTP status of the Location URL in the end; default 204
	// for a delete, else 200. EmptyFinal leaves its body out.
	FinalStatus int  `json:"finalStatus,omitempty"`
	EmptyFinal  bool `json:"emptyFinal,omitempty"`
	// OperationAPIVersion is the api-version in the operation's URLs; default the
	// request's.
	OperationAPIVersion string `json:"operationApiVersion,omitempty"`
	// RetryAfterDate sends Retry-After as an HTTP date.
	RetryAfterDate bool `json:"retryAfterDate,omitempty"`
	// DeleteBody lets the first answer of a DELETE show the resource.
	DeleteBody bool `json:"deleteBody,omitempty"`
	// EmptyBody leaves the body out of the first answer.
	EmptyBody bool `json:"emptyBody,omitempty"`
}

func (s OperationSpec) duration() time.Duration { return seconds(s.Seconds) }

// retryAfter of the n-th answer (0 = the first one, before any poll).
func (s OperationSpec) retryAfter(n int) time.Duration {
	if len(s.RetryAfter) == 0 {
		return 0
	}
	return seconds(s.RetryAfter[min(n, len(s.RetryAfter)-1)])
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// override takes the state and status word of a particular update.
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

// operationBody is the body of a first answer that names the operation only.
func (s *Simulator) operationBody(resourceType string) any {
	if name := s.ruleFor(resourceType).operationBodyName; name != "" {
		return object{"operation": name, "startTime": timestamp(s.clock.now())}
	}
	return nil
}
