package arm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
)

// headerClientRequestID is shown in Azure's activity log beside the correlation ID.
const headerClientRequestID = "X-Ms-Client-Request-Id"

// JournaledWrite is a write that is about to leave.
type JournaledWrite struct {
	Write
	// Target is the path of the URL for ARM, and the URL without its query for key vaults
	// and storage accounts.
	Target string
	// APIVersion and CorrelationID are as sent.
	APIVersion, CorrelationID string
}

// WriteEnd is how a write ended.
type WriteEnd struct {
	// Status is that of the response, 0 without one; Code is ARM's code of a refusal where
	// a header shows it.
	Status    int
	Code      string
	RequestID string
	// Unsent is set when the request certainly did not leave.
	Unsent bool
	// Err is the reason why there is no response.
	Err error
}

// Journal records writes. It is called after the WriteCheck, right before a request is handed
// to the connection, once for each time that a request leaves; an error stops the write, as a
// WriteRefusedError. It returns the x-ms-client-request-id of the request, "" for any, and
// what is called with its end.
type Journal func(ctx context.Context, write JournaledWrite) (id string, end func(WriteEnd), err error)

// sender hands a request to the connection.
type sender func(*http.Request) (*http.Response, error)

// journaled returns a sender that records what it sends.
func (g *guardedTransport) journaled(trip *roundTrip, send sender) sender {
	return func(request *http.Request) (*http.Response, error) {
		id, end, err := g.journal(request.Context(), journaledWrite(request, trip, g.hosted))
		if err != nil {
			trip.refused = true
			return nil, &WriteRefusedError{Cause: err}
		}
		if id != "" {
			request.Header.Set(headerClientRequestID, id)
		}
		response, err := send(request)
		end(writeEnd(request.Context(), response, err))
		return response, err
	}
}

func journaledWrite(request *http.Request, trip *roundTrip, hosted bool) JournaledWrite {
	write := JournaledWrite{
		Write:  Write{Call: trip.call, Method: request.Method, Type: trip.typ, Action: trip.action},
		Target: request.URL.Path, APIVersion: request.URL.Query().Get("api-version"),
		CorrelationID: request.Header.Get(headerCorrelationID),
	}
	if hosted {
		write.Target = request.URL.Scheme + "://" + request.URL.Host + request.URL.Path
	}
	if write.Action != "" {
		write.Target = strings.TrimSuffix(write.Target, "/"+write.Action)
	}
	return write
}

// writeEnd returns the end of a request that was handed to the connection.
func writeEnd(ctx context.Context, response *http.Response, err error) WriteEnd {
	if err == nil {
		end := WriteEnd{Status: response.StatusCode, RequestID: answerID(response.Header, headerRequestID)}
		if end.Status >= http.StatusBadRequest {
			if code := response.Header.Get("X-Ms-Error-Code"); apiVersionPattern.MatchString(code) {
				end.Code = code
			}
		}
		return end
	}
	dial, ok := errors.AsType[*net.OpError](err)
	_, refused := errors.AsType[*WriteRefusedError](context.Cause(ctx))
	return WriteEnd{Err: err, Unsent: refused || ok && dial.Op == "dial"}
}
