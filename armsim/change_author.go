package armsim

import (
	"cmp"
	"strings"
	"time"
)

// The values that Azure reports if it does not know them. A change by Azure itself has
// "System" as its author and no correlation ID; a change of an unknown author has
// "Unspecified" and a correlation ID (both are in published rows of resourcechanges:
// github.com/MicrosoftDocs/azure-docs, get-resource-changes.md, "What does System mean?").
const (
	unspecified   = "Unspecified"
	systemAuthor  = "System"
	noCorrelation = "00000000-0000-0000-0000-000000000000"
)

// Author is the identity that makes a change, and its client.
type Author struct {
	// Name is the e-mail address of a user or the ID of an application; "" is unknown.
	Name string `json:"name,omitempty"`
	// Type is User or Application. "" is Application if the name is a GUID, else User.
	Type string `json:"type,omitempty"`
	// Client is the client as Azure names it: Azure Portal, Azure CLI, ARM Template, ...; ""
	// is a client that Azure does not recognize.
	Client string `json:"client,omitempty"`
	// System is a change that Azure makes by itself, without a request. Resource Graph
	// reports it, Event Grid does not.
	System bool `json:"system,omitempty"`
	// CorrelationID is that of the request; "" is a new one for each change.
	CorrelationID string `json:"correlationId,omitempty"`
}

// kind returns the type as Azure reports it.
func (a Author) kind() string {
	switch {
	case a.System:
		return systemAuthor
	case a.Type != "" || a.Name == "":
		return cmp.Or(a.Type, unspecified)
	case guidPattern.MatchString(a.Name):
		return "Application"
	}
	return "User"
}

// name returns the name as Azure reports it.
func (a Author) name() string {
	if a.System {
		return systemAuthor
	}
	return cmp.Or(a.Name, unspecified)
}

// actor is the origin of the changes that take effect now: a request, the request of the
// operation that ends, or a control action. The simulator's lock guards it.
type actor struct {
	Author
	at       time.Time // of the effect, simulated; zero is now
	claims   object    // of the token
	resource string    // ID of the target, as the request spells it
	request  object    // method, URL and IDs of the request, as events show it
}

// systemActor makes the changes without a request.
func systemActor() actor {
	return actor{Author: Author{System: true, CorrelationID: noCorrelation}}
}

// actorOf returns the origin of the changes that a request makes. A token with the claim
// idtyp "app", or without the name of a user, is one of an application.
func actorOf(q *request) actor {
	claims := q.claims()
	by := Author{CorrelationID: q.correlationID, Client: clientOf(q.r.UserAgent())}
	user := cmp.Or(text(claims, "upn"), text(claims, "unique_name"))
	switch {
	case user != "" && text(claims, "idtyp") != "app":
		by.Name, by.Type = user, "User"
	case text(claims, "appid") != "":
		by.Name, by.Type = text(claims, "appid"), "Application"
	}
	return actor{Author: by, claims: claims, resource: q.target.id, request: object{
		"clientRequestId": cmp.Or(q.r.Header.Get("x-ms-client-request-id"), q.requestID), "clientIpAddress": "203.0.113.1",
		"method": q.r.Method, "url": q.origin() + q.r.URL.RequestURI(),
	}}
}

// clientOf returns the client that Azure recognizes by a user agent, "" for any other. The
// Azure CLI sends AZURECLI/VERSION (Azure/azure-cli, get_az_user_agent).
func clientOf(userAgent string) string {
	if strings.Contains(strings.ToUpper(userAgent), "AZURECLI/") {
		return "Azure CLI"
	}
	return ""
}

// actAs sets the origin of the changes until the returned function is called.
func (s *Simulator) actAs(by actor) func() {
	before := s.actor
	s.actor = by
	return func() { s.actor = before }
}

// Client makes changes out of band, as an author does. See [Simulator.As].
type Client struct {
	s  *Simulator
	by Author
}

// As returns a client that makes changes out of band in the name of an author: as the
// methods of the simulator itself, which make them as an unknown author.
func (s *Simulator) As(by Author) *Client { return &Client{s: s, by: by} }

// lock begins a control action; the returned function ends it.
func (c *Client) lock() (unlock func()) {
	c.s.mu.Lock()
	c.s.completeDueOperations()
	by := actor{Author: c.by}
	switch {
	case by.System:
		by.CorrelationID = noCorrelation
	case by.CorrelationID == "":
		by.CorrelationID = c.s.reports.newGUID()
	}
	restore := c.s.actAs(by)
	return func() {
		restore()
		c.s.mu.Unlock()
	}
}
