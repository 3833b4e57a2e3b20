package armsim

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// queuePrefix begins the paths of storage queues: /_queue/ACCOUNT/QUEUE, as those of
// Azurite begin with the account.
const queuePrefix = "/_queue/"

// queueType is the type under which faults, denials and the log have requests to queues.
const queueType = "Microsoft.Storage/storageAccounts/queueServices/queues"

// storageAudience is the audience of tokens for all storage accounts.
const storageAudience = "https://storage.azure.com"

// Limits of Queue Storage (learn.microsoft.com/rest/api/storageservices/get-messages
// and put-message).
const (
	maxMessages       = 32
	maxVisibility     = 7 * 24 * 60 * 60 // seconds
	defaultVisibility = 30               // seconds
	messageLifetime   = 7 * 24 * time.Hour
	maxQueueMessage   = 64 << 10 // bytes of text
)

// serveQueue serves the REST API of storage queues: Get, Peek, Put, Update, Delete and Clear
// Messages, and Create, Delete and Get Metadata of a queue.
func (s *Simulator) serveQueue(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	q := &request{r: r, requestID: s.newGUID(), correlationID: s.newGUID(), started: s.clock.now(), apiVersion: r.Header.Get("x-ms-version")}
	s.mu.Unlock()
	q.resourceType, q.target.kind = queueType, kindQueue
	segments := strings.Split(strings.Trim(r.URL.Path[len(queuePrefix):], "/"), "/")
	q.target.id = "/queues/" + strings.Join(segments[:min(2, len(segments))], "/")
	body, err := readRequestBody(w, r)
	q.body = body
	var resp *response
	if err != nil {
		resp = s.queueError(q, http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "The request body is too large and exceeds the maximum permissible limit.", "")
	} else {
		resp = s.serveWithFaults(q, func() *response {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.completeDueOperations()
			if refused := s.checkQueueAccess(q); refused != nil {
				return refused
			}
			return s.dispatchQueue(q, segments)
		})
	}
	s.mu.Lock()
	h := resp.header
	h.Set("Date", s.options.Clock().UTC().Format(http.TimeFormat))
	h.Set("Server", "Windows-Azure-Queue/1.0 Microsoft-HTTPAPI/2.0")
	h.Set("X-Ms-Request-Id", q.requestID)
	h.Set("X-Ms-Version", q.apiVersion)
	if id := r.Header.Get("x-ms-client-request-id"); id != "" {
		h.Set("X-Ms-Client-Request-Id", id)
	}
	s.log.addRequest(s.clock.now(), q, resp)
	s.mu.Unlock()
	resp.write(w, r.Method == http.MethodHead)
}

// checkQueueAccess refuses a request without a token for Storage, and one that a denial of
// /queues/ACCOUNT/QUEUE covers. Sources of the codes: Azure/AzureStor#119 (audience),
// microsoft/AzureStorageExplorer#3586 (version), the emulator Azurite (permission).
func (s *Simulator) checkQueueAccess(q *request) *response {
	for _, d := range s.denials {
		if globMatch(d.Scope, q.target.id) && globMatch(d.Method, q.r.Method) {
			return s.queueError(q, http.StatusForbidden, "AuthorizationPermissionMismatch", "This request is not authorized to perform this operation using this permission.", "")
		}
	}
	if !s.options.RequireAuth {
		return nil
	}
	scheme, token, _ := strings.Cut(q.r.Header.Get("Authorization"), " ")
	expires, audience, ok := s.verifyToken(token)
	const refer = "Server failed to authenticate the request. Please refer to the information in the www-authenticate header."
	code, detail := "", ""
	switch {
	case scheme == "":
		code = "NoAuthenticationInformation"
	case q.apiVersion == "":
		return s.queueError(q, http.StatusForbidden, "AuthenticationFailed", "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.",
			"Authentication scheme Bearer is not supported in this version.")
	case !strings.EqualFold(scheme, "Bearer") || !ok:
		code, detail = "InvalidAuthenticationInfo", "Signature validation failed. Signature did not match."
	case s.options.Clock().After(expires):
		code, detail = "InvalidAuthenticationInfo", "Lifetime validation failed. The token is expired."
	case !s.storageAudience(q, audience):
		code, detail = "InvalidAuthenticationInfo", "Audience validation failed. Audience did not match."
	default:
		return nil
	}
	resp := s.queueError(q, http.StatusUnauthorized, code, refer, detail)
	resp.header.Set("WWW-Authenticate", "Bearer authorization_uri="+q.origin()+"/"+textOr(s.options.TenantID, "common")+"/oauth2/authorize resource_id="+storageAudience)
	return resp
}

// storageAudience reports whether tokens for an audience are accepted: that of Storage, of
// the account (https://ACCOUNT.queue.core.windows.net in Azure, here the server), or the
// one of the options.
func (s *Simulator) storageAudience(q *request, audience string) bool {
	audience = strings.TrimRight(audience, "/")
	return audience == storageAudience || audience == q.origin() || s.options.Audience != "" && audience == strings.TrimRight(s.options.Audience, "/") ||
		strings.HasPrefix(audience, "https://") && strings.HasSuffix(audience, ".queue.core.windows.net")
}

func textOr(value, other string) string {
	if value == "" {
		return other
	}
	return value
}

// dispatchQueue serves a request with a token.
func (s *Simulator) dispatchQueue(q *request, segments []string) *response {
	if len(segments) < 2 || len(segments) > 4 || len(segments) > 2 && !strings.EqualFold(segments[2], "messages") {
		return s.queueError(q, http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.", "")
	}
	account, name := segments[0], segments[1]
	queue := s.findQueue(account, name)
	if len(segments) == 2 && q.r.Method == http.MethodPut && q.r.URL.Query().Get("comp") == "" {
		if queue != nil {
			return newResponse(http.StatusNoContent, nil)
		}
		s.addQueue(account, name)
		return newResponse(http.StatusCreated, nil)
	}
	if queue == nil {
		return s.queueError(q, http.StatusNotFound, "QueueNotFound", "The specified queue does not exist.", "")
	}
	s.dropExpiredMessages(queue)
	switch {
	case len(segments) == 2:
		return s.serveQueueItself(q, queue)
	case len(segments) == 4:
		return s.serveMessage(q, queue, segments[3])
	}
	switch q.r.Method {
	case http.MethodGet:
		return s.getMessages(q, queue, strings.EqualFold(q.r.URL.Query().Get("peekonly"), "true"))
	case http.MethodPost:
		return s.postMessage(q, queue)
	case http.MethodDelete:
		queue.messages = slices.DeleteFunc(queue.messages, func(m *queueMessage) bool { return !s.clock.now().Before(m.arrives) })
		return newResponse(http.StatusNoContent, nil)
	}
	return s.queueVerbError(q)
}

func (s *Simulator) queueVerbError(q *request) *response {
	return s.queueError(q, http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.", "")
}

// serveQueueItself serves the metadata of a queue and its deletion.
func (s *Simulator) serveQueueItself(q *request, queue *storageQueue) *response {
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		resp := newResponse(http.StatusOK, nil)
		resp.header.Set("X-Ms-Approximate-Messages-Count", strconv.Itoa(len(s.arrivedMessages(queue))))
		return resp
	case http.MethodDelete:
		delete(s.queues, queueKey(queue.account, queue.name))
		return newResponse(http.StatusNoContent, nil)
	}
	return s.queueVerbError(q)
}

// queueItem is a message in a response. Peeked messages have no pop receipt, added ones no
// text.
type queueItem struct {
	MessageID       string `xml:"MessageId"`
	InsertionTime   string
	ExpirationTime  string
	PopReceipt      string `xml:",omitempty"`
	TimeNextVisible string `xml:",omitempty"`
	DequeueCount    *int   `xml:",omitempty"`
	MessageText     *string
}

// queueXML returns a response with a document.
func queueXML(status int, document any) *response {
	resp := newResponse(status, nil)
	encoded, _ := xml.Marshal(document) // texts and numbers always encode
	resp.raw = append([]byte("\ufeff"+`<?xml version="1.0" encoding="utf-8"?>`), encoded...)
	resp.header.Set("Content-Type", "application/xml")
	return resp
}

func messageList(status int, items []queueItem) *response {
	return queueXML(status, struct {
		XMLName xml.Name    `xml:"QueueMessagesList"`
		Items   []queueItem `xml:"QueueMessage"`
	}{Items: items})
}

// queueError returns an error in the form of Storage.
func (s *Simulator) queueError(q *request, status int, code, message, detail string) *response {
	type failure struct {
		XMLName                   xml.Name `xml:"Error"`
		Code                      string
		Message                   string
		AuthenticationErrorDetail string `xml:",omitempty"`
	}
	resp := queueXML(status, failure{
		Code: code, AuthenticationErrorDetail: detail,
		Message: message + "\nRequestId:" + q.requestID + "\nTime:" + s.options.Clock().UTC().Format("2006-01-02T15:04:05.0000000Z"),
	})
	resp.header.Set("X-Ms-Error-Code", code)
	resp.code = code
	return resp
}
