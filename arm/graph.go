package arm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/armature-io/armature/resource"
)

// graphAPIVersion is the version of Azure Resource Graph, and maxGraphRows its largest page.
// Source: https://learn.microsoft.com/rest/api/azureresourcegraph/resourcegraph/resources/resources
const (
	graphAPIVersion = "2022-10-01"
	maxGraphRows    = 1000
)

// GraphQuery is a query of Azure Resource Graph.
type GraphQuery struct {
	// Scope is a subscription or management group; zero is everything that the credential
	// may read.
	Scope resource.ID
	// Subscriptions replace a Scope.
	Subscriptions []string
	// Query is KQL. Its rows have an order and a column id: a page without an order may repeat
	// and omit rows.
	Query string
	// Page continues a query; "" begins it.
	Page string
}

// GraphIDs returns the IDs of one page of a query without an order, in order of the IDs. next
// is "" after the last page.
func (c *Client) GraphIDs(ctx context.Context, q GraphQuery) (ids []string, next string, err error) {
	q.Query = strings.TrimRight(q.Query, " \t\r\n;") + "\n| project id\n| order by id asc"
	rows, next, err := graphRows[struct {
		ID string `json:"id"`
	}](ctx, c, q)
	if err != nil {
		return nil, "", err
	}
	for _, row := range rows {
		if row.ID == "" {
			return nil, "", errors.New("query Resource Graph: a row has no column id; end the query with | project id")
		}
		ids = append(ids, row.ID)
	}
	return ids, next, nil
}

// graphRows returns one page of a query. next is "" after the last page.
func graphRows[Row any](ctx context.Context, c *Client, q GraphQuery) (rows []Row, next string, err error) {
	page, err := graphPage[Row](ctx, c, q)
	if err != nil {
		return nil, "", fmt.Errorf("query Resource Graph: %w", err)
	}
	return page.Data, page.SkipToken, nil
}

// page is a page of rows.
type page[Row any] struct {
	Data      []Row  `json:"data"`
	SkipToken string `json:"$skipToken"`
	Truncated string `json:"resultTruncated"`
}

func graphPage[Row any](ctx context.Context, c *Client, q GraphQuery) (found page[Row], err error) {
	c, err = c.For(ctx, q.Scope)
	if err != nil {
		return found, err
	}
	body, err := json.Marshal(graphBody(q))
	if err != nil {
		return found, fmt.Errorf("encode the query: %w", err)
	}
	target, err := c.path("/providers/Microsoft.ResourceGraph/resources", graphAPIVersion)
	if err != nil {
		return found, err
	}
	resp, payload, err := c.do(ctx, &roundTrip{call: CallList, typ: "Microsoft.ResourceGraph/resources", reads: true}, http.MethodPost, target, body, nil)
	if err != nil {
		return found, err
	}
	if !success(resp.StatusCode) {
		return found, newError(http.MethodPost, resp.StatusCode, resp.Header, payload, c.now)
	}
	found = decodeView[page[Row]](payload)
	if found.Data == nil {
		return found, c.invalidAnswer(resp, "it has no rows")
	}
	if found.SkipToken == "" && strings.EqualFold(found.Truncated, "true") {
		return found, errors.New("the service cut the rows and offers no next page; leave limit, take and top out of the query")
	}
	return found, nil
}

// graphBody returns the body of a query.
func graphBody(q GraphQuery) map[string]any {
	options := map[string]any{"resultFormat": "objectArray", "$top": maxGraphRows}
	if q.Page != "" {
		options["$skipToken"] = q.Page
	}
	body := map[string]any{"query": q.Query, "options": options}
	switch {
	case len(q.Subscriptions) > 0:
		body["subscriptions"] = q.Subscriptions
	case strings.EqualFold(q.Scope.Type(), resource.TypeManagementGroup):
		body["managementGroups"] = []string{q.Scope.Name()}
	case q.Scope.Subscription() != "":
		body["subscriptions"] = []string{q.Scope.Subscription()}
	}
	return body
}
