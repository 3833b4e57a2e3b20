package armsim

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Azure Resource Graph: pages have at most 1,000 rows, and a user has 15 queries in 5 s.
// Source: https://learn.microsoft.com/azure/governance/resource-graph/concepts/work-with-data
// and .../guidance-for-throttled-requests
const (
	maxGraphRows    = 1000
	maxGraphQueries = 15
	graphWindow     = 5 * time.Second
)

// graphCondition is one comparison of a where clause.
var graphCondition = regexp.MustCompile(`(?i)^([a-z.]+(?:\['[^']*'\])?)\s*(==|=~)\s*'([^']*)'$`)

// graphAnd separates the conditions of a where clause.
var graphAnd = regexp.MustCompile(`(?i)\s+and\s+`)

// graph serves POST providers/Microsoft.ResourceGraph/resources; nil for other requests. Of
// KQL it knows the tables of changes (see changeQuery), and the table resources with where (== and =~ on texts, joined by and), project,
// order by id and limit; anything else is the service's refusal of a query.
func (s *Simulator) graph(q *request) *response {
	if !strings.EqualFold(q.target.namespace, "Microsoft.ResourceGraph") || !strings.EqualFold(q.target.action, "resources") || q.r.Method != http.MethodPost {
		return nil
	}
	if resp := s.graphQuota(q); resp != nil {
		return resp
	}
	body, refused := readBody(q)
	if refused != nil {
		return refused
	}
	if resp := s.checkGraphScope(body); resp != nil {
		return resp
	}
	if kql := text(body, "query"); queriesChanges(kql) {
		query, err := parseChangeQuery(kql)
		if err != nil {
			return errGraphQuery(q)
		}
		return graphPage(body, query.columns, query.run(s.changeRows(body, query.tables)))
	}
	query, ok := parseGraphQuery(text(body, "query"))
	if !ok {
		return errGraphQuery(q)
	}
	var rows []any
	for _, r := range s.graphRows(body) {
		if shown := s.listed(r); shown != nil && query.matches(r, shown) {
			rows = append(rows, query.row(shown))
		}
	}
	if query.limit > 0 {
		rows = rows[:min(query.limit, len(rows))]
	}
	return graphPage(body, query.columns, rows)
}

// errGraphQuery is the service's refusal of a query.
func errGraphQuery(q *request) *response {
	return armErrorDetail(http.StatusBadRequest, "BadRequest", "Please provide below info when asking for support: correlationId = "+q.correlationID,
		"InvalidQuery", "Query is invalid. Please refer to the documentation for the Azure Resource Graph service and fix the error before retrying.")
}

// graphQuota refuses a query beyond the quota of the principal.
func (s *Simulator) graphQuota(q *request) *response {
	now := s.clock.now()
	key := q.principal()
	s.graphCalls[key] = slices.DeleteFunc(s.graphCalls[key], func(at time.Time) bool { return now.Sub(at) >= graphWindow })
	if len(s.graphCalls[key]) >= maxGraphQueries {
		wait := graphWindow - now.Sub(s.graphCalls[key][0])
		resp := armError(http.StatusTooManyRequests, "RateLimiting", "Please provide below info when asking for support: correlationId = %s", q.correlationID)
		resp.header.Set("X-Ms-User-Quota-Remaining", "0")
		s.clock.setRetryAfter(resp.header, wait)
		return resp
	}
	s.graphCalls[key] = append(s.graphCalls[key], now)
	return nil
}

// graphRows returns the resources in the scope of a query, in order of their IDs. They come
// from an index that lags behind, and only tracked resources are in it.
func (s *Simulator) graphRows(body object) []*resource {
	subscriptions, _ := body["subscriptions"].([]any)
	return s.indexed("", func(r *resource, t target) bool {
		inScope := func(id any) bool { return strings.EqualFold(t.subscription, text(object{"id": id}, "id")) }
		return isTracked(r, t) &&
			(len(subscriptions) == 0 || slices.ContainsFunc(subscriptions, inScope))
	})
}

// graphQuery is a parsed query.
type graphQuery struct {
	where   [][3]string // path, operator, text
	columns []string
	limit   int
}

func parseGraphQuery(kql string) (graphQuery, bool) {
	q := graphQuery{}
	parts := strings.Split(strings.ReplaceAll(kql, "\n", " "), "|")
	if !strings.EqualFold(strings.TrimSpace(parts[0]), "resources") {
		return q, false
	}
	for _, part := range parts[1:] {
		operator, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToLower(operator) {
		case "where":
			for _, condition := range graphAnd.Split(rest, -1) {
				m := graphCondition.FindStringSubmatch(condition)
				if m == nil {
					return q, false
				}
				q.where = append(q.where, [3]string{m[1], m[2], m[3]})
			}
		case "project":
			for _, column := range strings.Split(rest, ",") {
				q.columns = append(q.columns, strings.TrimSpace(column))
			}
		case "limit", "take":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return q, false
			}
			q.limit = n
		case "order":
			if !strings.HasPrefix(strings.ToLower(rest), "by id") {
				return q, false
			}
		default:
			return q, false
		}
	}
	return q, true
}

func (q graphQuery) matches(r *resource, shown object) bool {
	t, _ := parseID(r.id)
	for _, c := range q.where {
		var value string
		switch path := strings.ToLower(c[0]); {
		case path == "resourcegroup":
			value = strings.ToLower(t.group)
		case path == "subscriptionid":
			value = t.subscription
		case strings.HasPrefix(path, "tags['"):
			value = text(object{"tags": shown["tags"]}, "tags."+strings.TrimSuffix(c[0][len("tags['"):], "']"))
		case path == "type":
			value = strings.ToLower(r.typ)
		default:
			value = text(shown, c[0])
		}
		if c[1] == "==" && value != c[2] || !strings.EqualFold(value, c[2]) {
			return false
		}
	}
	return true
}

func (q graphQuery) row(shown object) object {
	if len(q.columns) == 0 {
		return shown
	}
	row := object{}
	for _, column := range q.columns {
		row[column] = shown[column]
	}
	return row
}

// graphPage returns one page. Without a column id the service cannot continue: it cuts the
// rows and offers no token. No columns are all of them.
func graphPage(body object, columns []string, rows []any) *response {
	options, _ := body["options"].(object)
	size, start := 100, 0
	if top, err := strconv.Atoi(number(options["$top"])); err == nil && top > 0 {
		size = min(top, maxGraphRows)
	}
	if token, ok := options["$skipToken"].(string); ok {
		raw, err := base64.URLEncoding.DecodeString(token)
		if err == nil {
			start, err = strconv.Atoi(strings.TrimPrefix(string(raw), "rows:"))
		}
		if err != nil || start > len(rows) {
			return armError(http.StatusBadRequest, "BadRequest", "The skip token is invalid.")
		}
	}
	end := min(start+size, len(rows))
	data := append([]any{}, rows[start:end]...)
	out := object{"totalRecords": len(rows), "count": len(data), "data": data, "facets": []any{}, "resultTruncated": "false"}
	if end < len(rows) {
		out["resultTruncated"] = "true"
		if len(columns) == 0 || slices.Contains(columns, "id") {
			out["resultTruncated"] = "false"
			out["$skipToken"] = base64.URLEncoding.EncodeToString([]byte("rows:" + strconv.Itoa(end)))
		}
	}
	return newResponse(http.StatusOK, out)
}
