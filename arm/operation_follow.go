package arm

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-io/armature/resource"
)

// The kinds of poll targets; they are part of resume tokens. pollNothing: the
// operation is finished. pollUnknown: accepted, with nothing to poll.
const (
	pollNothing  = ""
	pollUnknown  = "unknown"
	pollAsyncURL = "azure-asyncoperation"
	pollLocation = "location"
	pollResource = "resource"
)

// pollTarget returns what to poll after an accepted request, and the URL where a
// header names one.
func pollTarget(resp *http.Response, method string) (kind, url string) {
	status := resp.StatusCode
	if async := resp.Header.Get(headerAsync); async != "" {
		return pollAsyncURL, async
	}
	location := resp.Header.Get(headerLocation)
	switch {
	case location != "" && status == http.StatusAccepted:
		return pollLocation, location
	case method == http.MethodPost:
		if status == http.StatusAccepted {
			return pollUnknown, ""
		}
		return pollNothing, ""
	case method == http.MethodDelete:
		if status == http.StatusAccepted || inProgress(provisioningStateOf(resp)) {
			return pollUnknown, ""
		}
		return pollNothing, ""
	case location != "" && !isSelfLocation(location, resp.Request.URL):
		return pollLocation, location
	case status == http.StatusAccepted || inProgress(provisioningStateOf(resp)):
		return pollResource, ""
	}
	return pollNothing, ""
}

// isSelfLocation reports whether a Location is only HTTP's "created here".
func isSelfLocation(location string, request *url.URL) bool {
	at, err := request.Parse(location)
	return err == nil && sameHost(at, request) &&
		strings.EqualFold(strings.TrimRight(at.Path, "/"), strings.TrimRight(request.Path, "/"))
}

// onEndpointHost reports whether an operation URL may be polled: absolute, as the
// contract demands, and on the endpoint's host.
func (c *Client) onEndpointHost(link string) bool {
	at, err := url.Parse(link)
	return err == nil && at.IsAbs() && sameHost(at, c.host)
}

// provisioningStateOf returns the state in a response's body, "" when absent.
func provisioningStateOf(resp *http.Response) string {
	payload, err := runtime.Payload(resp)
	if err != nil {
		return ""
	}
	return provisioningState(payload)
}

// provisioningState returns properties.provisioningState, "" when absent.
func provisioningState(body []byte) string {
	return decodeView[struct {
		Properties struct {
			ProvisioningState string `json:"provisioningState"`
		} `json:"properties"`
	}](body).Properties.ProvisioningState
}

// inProgress reports whether the state of a resource that was just written means
// that the operation is in progress: a state of the closed table, or another one by
// its ending ("Validating"). Machines and clusters rest in Running. Without a known
// operation only the table decides: a misread state would block a resource forever.
func inProgress(state string) bool {
	return resource.InFlight(state) || strings.HasSuffix(strings.ToLower(state), "ing") && !strings.EqualFold(state, "Running")
}

// outcomeOfState returns the outcome for the last state of an operation.
func outcomeOfState(state string) string {
	switch strings.ToLower(state) {
	case "failed":
		return OutcomeFailed
	case "canceled", "cancelled":
		return OutcomeCanceled
	}
	return OutcomeSucceeded
}

// pollWait returns the wait before the next poll: the service's, else the default.
func (c *Client) pollWait(retryAfter time.Duration, kind string) time.Duration {
	switch {
	case retryAfter > 0:
		return retryAfter
	case c.pollInterval > 0:
		return c.pollInterval
	case kind == pollLocation:
		return time.Minute
	}
	return 15 * time.Second
}
