package arm

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-io/armature/resource"
)

// By what an operation is followed. viaNothing: it is finished; viaUnknown:
// accepted, and nothing says how.
const (
	viaNothing  = ""
	viaUnknown  = "unknown"
	viaAsync    = "azure-asyncoperation"
	viaLocation = "location"
	viaResource = "resource"
)

// follow says by what an accepted request is followed, and the URL.
func follow(answer *http.Response, method string) (via, where string) {
	status := answer.StatusCode
	if async := answer.Header.Get(headerAsync); async != "" {
		return viaAsync, async
	}
	location := answer.Header.Get(headerLocation)
	switch {
	case location != "" && status == http.StatusAccepted:
		return viaLocation, location
	case method == http.MethodPost:
		if status == http.StatusAccepted {
			return viaUnknown, ""
		}
		return viaNothing, ""
	case method == http.MethodDelete:
		if status == http.StatusAccepted || goesOn(provisioningStateOf(answer)) {
			return viaUnknown, ""
		}
		return viaNothing, ""
	case location != "" && !locatesItself(location, answer.Request.URL):
		return viaLocation, location
	case status == http.StatusAccepted || goesOn(provisioningStateOf(answer)):
		return viaResource, ""
	}
	return viaNothing, ""
}

// locatesItself reports whether a Location is only HTTP's "created here".
func locatesItself(location string, request *url.URL) bool {
	at, err := request.Parse(location)
	return err == nil && sameHost(at, request) &&
		strings.EqualFold(strings.TrimRight(at.Path, "/"), strings.TrimRight(request.Path, "/"))
}

// followable reports whether an operation URL may be asked: absolute, as the
// contract demands, and on the endpoint's host.
func (c *Client) followable(where string) bool {
	at, err := url.Parse(where)
	return err == nil && at.IsAbs() && sameHost(at, c.host)
}

func provisioningStateOf(answer *http.Response) string {
	payload, err := runtime.Payload(answer)
	if err != nil {
		return ""
	}
	return provisioningState(payload)
}

func provisioningState(body []byte) string {
	var view struct {
		Properties struct {
			ProvisioningState string `json:"provisioningState"`
		} `json:"properties"`
	}
	if json.Unmarshal(body, &view) != nil {
		return ""
	}
	return view.Properties.ProvisioningState
}

// goesOn reports whether the state of a resource that was just written means
// that the operation goes on: a word of the closed table, or another one that
// says so by its form ("Validating"). Running is where machines and clusters
// rest. The table alone decides where nobody knows of an operation: there a word
// that is misread would block for ever.
func goesOn(state string) bool {
	return resource.InFlight(state) || strings.HasSuffix(strings.ToLower(state), "ing") && !strings.EqualFold(state, "Running")
}

// outcomeOf reads a word at the end of an operation.
func outcomeOf(word string) string {
	switch strings.ToLower(word) {
	case "failed":
		return OutcomeFailed
	case "canceled", "cancelled":
		return OutcomeCanceled
	}
	return OutcomeSucceeded
}

// wait is what the service asks for, else the default.
func (c *Client) wait(asked time.Duration, via string) time.Duration {
	switch {
	case asked > 0:
		return asked
	case c.pollInterval > 0:
		return c.pollInterval
	case via == viaLocation:
		return time.Minute
	}
	return 15 * time.Second
}
