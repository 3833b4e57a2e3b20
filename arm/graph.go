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
	// Query is KQL. Its rows must have a column id.
	Query string
	// Page continues a query; "" begins it.
	Page string
}

// GraphIDs returns the IDs of one page of a query, in order. next is "" after the last
// page.
func (c *Client) GraphIDs(ctx context.Context, q GraphQuery) (ids []string, next string, err error) {
	ids, next, err = c.graphIDs(ctx, q)
	if err != nil {
		return nil, "", fmt.Errorf("query Resource Graph: %w", err)
	}
	return ids, next, nil
}

func (c *Client) graphIDs(ctx context.Context, q GraphQuery) ([]string, string, error) {
	c, err := c.For(ctx, q.Scope)
	if err != nil {
		return nil, "", err
	}
	body, err := json.Marshal(graphBody(q))
	if err != nil {
		return nil, "", fmt.Errorf("encode the query: %w", err)
	}
	target, err := c.path("/providers/Microsoft.ResourceGraph/resources", graphAPIVersion)
	if err != nil {
		return nil, "", err
	}
	resp, payload, err := c.do(ctx, &roundTrip{call: CallList, typ: "Microsoft.ResourceGraph/resources", reads: true}, http.MethodPost, target, body, nil)
	if err != nil {
		return nil, "", err
	}
	if !success(resp.StatusCode) {
		return nil, "", newError(http.MethodPost, resp.StatusCode, resp.Header, payload, c.now)
	}
	page := decodeView[struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		SkipToken string `json:"$skipToken"`
		Truncated string `json:"resultTruncated"`
	}](payload)
	if page.Data == nil {
		return nil, "", c.invalidAnswer(resp, "it has no rows")
	}
	ids := make([]string, 0, len(page.Data))
	for _, row := range page.Data {
		if row.ID == "" {
			return nil, "", errors.New("a row has no column id; end the query with | project id")
		}
		ids = append(ids, row.ID)
	}
	if page.SkipToken == "" && strings.EqualFold(page.Truncated, "true") {
		return nil, "", errors.New("the service cut the rows and offers no next page; leave limit, take and top out of the query")
	}
	return ids, page.SkipToken, nil
}

// graphBody returns the body of a query: only IDs, in an order, because a page without an
// order may repeat and omit rows.
func graphBody(q GraphQuery) map[string]any {
	options := map[string]any{"resultFormat": "objectArray", "$top": maxGraphRows}
	if q.Page != "" {
		options["$skipToken"] = q.Page
	}
	body := map[string]any{"query": strings.TrimRight(q.Query, " \t\r\n;") + "\n| project id\n| order by id asc", "options": options}
	switch {
	case strings.EqualFold(q.Scope.Type(), resource.TypeManagementGroup):
		body["managementGroups"] = []string{q.Scope.Name()}
	case q.Scope.Subscription() != "":
		body["subscriptions"] = []string{q.Scope.Subscription()}
	}
	return body
}
