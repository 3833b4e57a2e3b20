package armsim

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// changeQuery is a parsed query of the tables of changes: tables, then operators. Of KQL it
// knows union (directly after the first table), extend, where (comparisons joined by and),
// project, order by and limit; of functions todatetime, tostring, bag_keys and literals of
// datetime. Anything else is an error.
type changeQuery struct {
	tables    []string
	operators []rowOperator
	columns   []string // nil before a project: all
}

// rowOperator changes a list of rows.
type rowOperator func(rows []object) []object

// rowValue computes a value from a row: a string, an object, a list, a time.Time or nil.
type rowValue func(row object) any

// queryToken is a word, a path, a text, a literal of datetime, or a sign.
var queryToken = regexp.MustCompile(`^(?:datetime\(\s*([^)\s]*)\s*\)|'([^']*)'|([A-Za-z_][A-Za-z0-9_.]*|[0-9]+)|(>=|<=|==|=~|[=<>,|()]))`)

// queryParser reads the tokens of a query.
type queryParser struct {
	tokens []string // a text begins with ', a datetime with @
	known  map[string]bool
	err    error
}

// graphColumns are the columns of every table of Resource Graph.
var graphColumns = []string{
	"id", "name", "type", "tenantId", "kind", "location", "resourceGroup", "subscriptionId", "managedBy", "sku", "plan",
	"properties", "tags", "identity", "zones", "extendedLocation",
}

// queriesChanges reports whether a query begins with a table of changes.
func queriesChanges(kql string) bool {
	table, _, _ := strings.Cut(strings.TrimSpace(kql), "|")
	return containsFold([]string{resourceChanges, containerChanges}, strings.TrimSpace(table))
}

func parseChangeQuery(kql string) (changeQuery, error) {
	p := &queryParser{known: map[string]bool{}}
	for rest := strings.TrimSpace(kql); rest != ""; rest = strings.TrimSpace(rest) {
		m := queryToken.FindStringSubmatch(rest)
		if m == nil {
			return changeQuery{}, fmt.Errorf("unknown sign at %.20q", rest)
		}
		token := cmp.Or(m[3], m[4])
		switch {
		case strings.HasPrefix(m[0], "'"):
			token = "'" + m[2]
		case token == "":
			token = "@" + m[1]
		}
		p.tokens, rest = append(p.tokens, token), rest[len(m[0]):]
	}
	for _, column := range graphColumns {
		p.known[column] = true
	}
	q := changeQuery{tables: []string{p.table()}}
	for len(p.tokens) > 0 && p.err == nil {
		p.expect("|")
		p.operator(&q)
	}
	return q, p.err
}

func (p *queryParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// next returns and removes the next token, "" at the end.
func (p *queryParser) next() string {
	if len(p.tokens) == 0 {
		p.fail("the query ends too early")
		return ""
	}
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	return token
}

// takes removes the next token if it is the given one.
func (p *queryParser) takes(token string) bool {
	if len(p.tokens) == 0 || !strings.EqualFold(p.tokens[0], token) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *queryParser) expect(token string) {
	if !p.takes(token) {
		p.fail("%q is missing", token)
	}
}

func (p *queryParser) table() string {
	table := strings.ToLower(p.next())
	if table != resourceChanges && table != containerChanges {
		p.fail("unknown table %q", table)
	}
	return table
}

// operator reads one operator after a bar.
func (p *queryParser) operator(q *changeQuery) {
	switch operator := strings.ToLower(p.next()); operator {
	case "union":
		if len(q.operators) > 0 {
			p.fail("union is known directly after the first table only")
		}
		q.tables = append(q.tables, p.table())
	case "extend":
		names, values := p.columns()
		q.operators = append(q.operators, func(rows []object) []object { return extendRows(rows, names, values) })
		for _, name := range names {
			p.known[name] = true
		}
	case "where":
		q.operators = append(q.operators, p.where())
	case "project":
		names, values := p.columns()
		q.columns = names
		q.operators = append(q.operators, func(rows []object) []object { return projectRows(rows, names, values) })
		clear(p.known)
		for _, name := range names {
			p.known[name] = true
		}
	case "order", "sort":
		p.expect("by")
		q.operators = append(q.operators, p.order())
	case "limit", "take":
		n, err := strconv.Atoi(p.next())
		if err != nil {
			p.fail("a limit is a number")
		}
		q.operators = append(q.operators, func(rows []object) []object { return rows[:min(n, len(rows))] })
	default:
		p.fail("unknown operator %q", operator)
	}
}

// columns reads NAME = VALUE, ...; a name alone is its own value.
func (p *queryParser) columns() (names []string, values []rowValue) {
	for {
		name := p.next()
		value := p.column(name)
		if p.takes("=") {
			value = p.value()
		} else if value == nil {
			p.fail("unknown column %q", name)
		}
		if strings.ContainsAny(name, ".'@(),|") {
			p.fail("%q is no name of a column", name)
		}
		names, values = append(names, name), append(values, value)
		if !p.takes(",") || p.err != nil {
			return names, values
		}
	}
}

// column returns the value of a column or of a path in one, nil if it is unknown.
func (p *queryParser) column(path string) rowValue {
	names := strings.Split(path, ".")
	if !p.known[names[0]] {
		return nil
	}
	return func(row object) any {
		value := row[names[0]]
		for _, name := range names[1:] {
			parent, _ := value.(object)
			value = parent[name]
		}
		return value
	}
}

// value reads a literal, a path or a call of a function.
func (p *queryParser) value() rowValue {
	token := p.next()
	switch {
	case strings.HasPrefix(token, "'"):
		return func(object) any { return token[1:] }
	case strings.HasPrefix(token, "@"):
		at, err := time.Parse(time.RFC3339Nano, token[1:])
		if err != nil {
			p.fail("unknown form of a time: %q", token[1:])
		}
		return func(object) any { return at }
	}
	if function := queryFunctions[strings.ToLower(token)]; function != nil && p.takes("(") {
		argument := p.value()
		p.expect(")")
		return func(row object) any { return function(argument(row)) }
	}
	value := p.column(token)
	if value == nil {
		p.fail("unknown column or function %q", token)
		return func(object) any { return nil }
	}
	return value
}

// queryFunctions are the known functions of one argument. A time that cannot be read is
// null.
var queryFunctions = map[string]func(any) any{
	"todatetime": func(value any) any {
		written, _ := value.(string)
		if at, err := time.Parse(time.RFC3339Nano, written); err == nil {
			return at
		}
		return nil
	},
	"tostring": func(value any) any { return queryText(value) },
	"bag_keys": func(value any) any {
		bag, ok := value.(object)
		if !ok {
			return nil
		}
		names := []any{}
		for name := range bag {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b any) int { return strings.Compare(queryText(a), queryText(b)) })
		return names
	},
}

func queryText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case time.Time:
		return timeText(v)
	}
	return fmt.Sprint(value)
}

// where reads comparisons joined by and.
func (p *queryParser) where() rowOperator {
	var conditions []func(row object) bool
	for {
		left := p.value()
		sign := p.next()
		right := p.value()
		matches := comparison(sign)
		if matches == nil {
			p.fail("unknown comparison %q", sign)
			return nil
		}
		conditions = append(conditions, func(row object) bool { return matches(left(row), right(row)) })
		if !p.takes("and") || p.err != nil {
			break
		}
	}
	return func(rows []object) []object {
		return slices.DeleteFunc(slices.Clone(rows), func(row object) bool {
			return slices.ContainsFunc(conditions, func(holds func(object) bool) bool { return !holds(row) })
		})
	}
}

// comparison returns the function of a sign, nil if it is unknown. A null matches nothing.
func comparison(sign string) func(a, b any) bool {
	order := func(holds func(int) bool) func(a, b any) bool {
		return func(a, b any) bool { return a != nil && b != nil && holds(compareValues(a, b)) }
	}
	switch sign {
	case ">=":
		return order(func(n int) bool { return n >= 0 })
	case "<=":
		return order(func(n int) bool { return n <= 0 })
	case ">":
		return order(func(n int) bool { return n > 0 })
	case "<":
		return order(func(n int) bool { return n < 0 })
	case "==":
		return order(func(n int) bool { return n == 0 })
	case "=~":
		return func(a, b any) bool { return strings.EqualFold(queryText(a), queryText(b)) }
	}
	return nil
}

func compareValues(a, b any) int {
	first, isTime := a.(time.Time)
	second, both := b.(time.Time)
	if isTime && both {
		return first.Compare(second)
	}
	return strings.Compare(queryText(a), queryText(b))
}

// order reads NAME [asc|desc], ...; without a word the order descends, as in KQL.
func (p *queryParser) order() rowOperator {
	type key struct {
		value rowValue
		up    bool
	}
	var keys []key
	for {
		by := key{value: p.value()}
		if by.up = p.takes("asc"); !by.up {
			p.takes("desc")
		}
		keys = append(keys, by)
		if !p.takes(",") || p.err != nil {
			break
		}
	}
	return func(rows []object) []object {
		ordered := slices.Clone(rows)
		slices.SortStableFunc(ordered, func(a, b object) int {
			for _, by := range keys {
				n := compareValues(by.value(a), by.value(b))
				if !by.up {
					n = -n
				}
				if n != 0 {
					return n
				}
			}
			return 0
		})
		return ordered
	}
}

func extendRows(rows []object, names []string, values []rowValue) []object {
	extended := make([]object, len(rows))
	for i, row := range rows {
		extended[i] = maps.Clone(row)
		for j, name := range names {
			extended[i][name] = values[j](row)
		}
	}
	return extended
}

func projectRows(rows []object, names []string, values []rowValue) []object {
	projected := make([]object, len(rows))
	for i, row := range rows {
		projected[i] = object{}
		for j, name := range names {
			projected[i][name] = values[j](row)
		}
	}
	return projected
}

// run returns the rows of the query as they are sent.
func (q changeQuery) run(rows []object) []any {
	for _, operator := range q.operators {
		rows = operator(rows)
	}
	sent := make([]any, len(rows))
	for i, row := range rows {
		shown := object{}
		for name, value := range row {
			if at, isTime := value.(time.Time); isTime {
				value = timeText(at)
			}
			shown[name] = value
		}
		sent[i] = shown
	}
	return sent
}
