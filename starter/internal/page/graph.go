package page

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

const (
	// maxNodes bounds the nodes of a graph. The rest is counted.
	maxNodes = 80
	// maxRest bounds the groups that count the rest.
	maxRest = 24
	// aroundDepth is how many edges the graph around a resource follows.
	aroundDepth = 2
)

// Graph is a part of the estate: resources, and what they belong to, need and wait for.
type Graph struct {
	Frame
	// Shows says which part it is: "root causes and what waits for them".
	Shows  string
	Filter Filter
	Phases []Choice
	Nodes  []Node
	Edges  []Edge
	// Matches is the number of resources that the filter chooses, Total that of all.
	Matches, Total int
	Rest           []Rest
	MoreRest       int
}

// Choice is an address that differs in one part of the filter.
type Choice struct {
	Link
	Chosen bool
}

// Node is a resource in the graph.
type Node struct {
	Ref
	// Key names the node in the page.
	Key    string
	Reason string
	// Chosen is the resource in the middle.
	Chosen bool
	// Marks are in words: protected, data, lock.
	Marks []string
	// Around is the graph around it.
	Around string
	Links  []NodeLink
}

// NodeLink is an edge as a sentence of the list.
type NodeLink struct {
	Verb string
	To   Ref
	// Key is that of the other node, "" if the graph does not have it.
	Key string
	// Blocked: the node waits for the other one.
	Blocked bool
}

// Edge connects two nodes by their keys.
type Edge struct {
	From, To string
	Kind     EdgeKind
}

// EdgeKind is what an edge means.
type EdgeKind string

// The kinds of edges. Blocked wins over the other two.
const (
	EdgeOwner   EdgeKind = "owner"
	EdgeNeeds   EdgeKind = "needs"
	EdgeBlocked EdgeKind = "blocked"
)

// Rest are resources that the graph does not show.
type Rest struct {
	Kind string
	State
	N    int
	Href string
}

// graph serves the graph.
func (s *Server) graph(w http.ResponseWriter, r *http.Request) {
	state := s.estate.look(r.Context())
	page, err := newGraph(r.Context(), state, filterOf(r.URL.Query()), s.options.Now())
	if err != nil {
		s.failed(w, r, err)
		return
	}
	page.Frame = s.frame(r, state, "Graph")
	s.render(w, r, pageGraph, page)
}

// newGraph returns the part of the estate that a filter names; without one, the root causes and
// what waits for them, and if nothing is blocked, the owners and what is in them.
func newGraph(ctx context.Context, state *snapshot, filter Filter, now time.Time) (Graph, error) {
	g := Graph{Filter: filter, Total: len(state.records)}
	net := newWiring(state)
	var start []string
	depth := 0
	switch {
	case filter.Of != "":
		id, err := resource.ParseID(filter.Of)
		if err == nil {
			start = []string{workflows.WaitingKey(id)}
			net.name(id)
		}
		g.Shows, depth = "what is around "+id.Short(), aroundDepth
	case !filter.IsEmpty():
		g.Shows = "what matches"
		for _, r := range state.records {
			v := backend.ListedView(r)
			if filter.matches(v, string(v.CurrentCondition(now).Reason)) {
				start = append(start, r.Key())
			}
		}
		g.Matches = len(start)
	default:
		report, err := state.engine(state, now).Causes(ctx, backend.Selection{})
		if err != nil {
			return Graph{}, err
		}
		for _, c := range report.Causes {
			if c.Link != nil && !c.Link.ID.IsZero() {
				start = append(start, workflows.WaitingKey(c.Link.ID))
				net.name(c.Link.ID)
			}
			for _, id := range c.Resources {
				start = append(start, workflows.WaitingKey(id))
			}
		}
		g.Shows = "root causes and what waits for them"
		if len(start) == 0 {
			g.Shows = "everything"
			for _, r := range state.records {
				start = append(start, r.Key())
			}
		}
	}
	g.addPhases(state)
	shown := net.reach(start, depth)
	for _, key := range shown {
		g.Nodes = append(g.Nodes, net.node(key, shown, filter, now))
	}
	g.Edges = net.edges(shown)
	g.addRest(state, shown, now)
	return g, nil
}

// addPhases adds the choices of the phase.
func (g *Graph) addPhases(state *snapshot) {
	counts := map[string]bool{}
	for _, r := range state.records {
		counts[backend.ListedView(r).PhaseName()] = true
	}
	for _, name := range phaseOrder() {
		if !counts[name] && name != g.Filter.Phase {
			continue
		}
		other := g.Filter
		other.Of, other.Phase = "", name
		if g.Filter.Phase == name {
			other.Phase = ""
		}
		g.Phases = append(g.Phases, Choice{Link: Link{Text: name, Href: other.href()}, Chosen: g.Filter.Phase == name})
	}
}

// addRest counts the resources that the graph does not show, by kind and state.
func (g *Graph) addRest(state *snapshot, shown []string, now time.Time) {
	counts := map[Rest]int{}
	for _, r := range state.records {
		v := backend.ListedView(r)
		if slices.Contains(shown, r.Key()) || !g.Filter.IsEmpty() && g.Filter.Of == "" && !g.Filter.matches(v, string(v.CurrentCondition(now).Reason)) {
			continue
		}
		other := g.Filter
		other.Of, other.Phase, other.Type = "", v.PhaseName(), v.ID.Type()
		counts[Rest{Kind: cli.Kind(v.ID), State: newState(v.PhaseName()), Href: other.href()}]++
	}
	for rest, n := range counts {
		rest.N = n
		g.Rest = append(g.Rest, rest)
	}
	slices.SortFunc(g.Rest, func(a, b Rest) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Text, b.Text))
	})
	if more := len(g.Rest) - maxRest; more > 0 {
		g.MoreRest, g.Rest = more, g.Rest[:maxRest]
	}
}

// wiring has the edges between all resources, by the keys with which they name each other.
type wiring struct {
	state *snapshot
	// ids are those of resources that are not managed.
	ids map[string]resource.ID
	// next and waiters are the neighbors in both directions.
	next, waiters map[string][]string
}

func newWiring(state *snapshot) *wiring {
	n := &wiring{state: state, ids: map[string]resource.ID{}, next: map[string][]string{}, waiters: map[string][]string{}}
	for _, r := range state.records {
		key := r.Key()
		n.name(r.ID.Owner())
		keys := append(r.NeedKeys(), r.WaitingFor...)
		slices.Sort(keys)
		n.next[key] = slices.Compact(keys)
		for _, other := range n.next[key] {
			n.waiters[other] = append(n.waiters[other], key)
		}
	}
	return n
}

// name keeps the ID behind a key.
func (n *wiring) name(id resource.ID) {
	if !id.IsZero() {
		n.ids[workflows.WaitingKey(id)] = id
	}
}

// id returns the ID behind a key, zero if it is not known.
func (n *wiring) id(key string) resource.ID {
	if r, known := n.state.byKey[key]; known {
		return r.ID
	}
	return n.ids[key]
}

// reach returns at most maxNodes keys: the first ones, then their neighbors, as many edges away
// as depth.
func (n *wiring) reach(start []string, depth int) []string {
	var shown []string
	known := map[string]bool{}
	add := func(key string) {
		_, isManaged := n.state.byKey[key]
		// A container that nothing manages, such as a subscription, would connect everything.
		if known[key] || len(shown) == maxNodes || n.id(key).IsZero() || !isManaged && len(n.waiters[key]) > 0 && n.id(key).IsContainer() {
			return
		}
		known[key] = true
		shown = append(shown, key)
	}
	for _, key := range start {
		add(key)
	}
	first := len(shown)
	for from := 0; depth > 0; depth-- {
		end := len(shown)
		for i, key := range shown[from:end] {
			if from+i >= first && n.id(key).IsContainer() {
				continue // it has nearly everything in it
			}
			for _, neighbor := range slices.Concat(n.next[key], n.waiters[key]) {
				add(neighbor)
			}
		}
		from = end
	}
	return shown
}

// kind returns what an edge between two resources means.
func (n *wiring) kind(from, to string) EdgeKind {
	r := n.state.byKey[from]
	switch {
	case slices.Contains(r.WaitingFor, to):
		return EdgeBlocked
	case workflows.WaitingKey(r.ID.Owner()) == to:
		return EdgeOwner
	}
	return EdgeNeeds
}

// edges returns the edges between the keys.
func (n *wiring) edges(shown []string) []Edge {
	var edges []Edge
	for _, from := range shown {
		for _, to := range n.next[from] {
			// Lines to a group that has everything in it say nothing: the list names it.
			if kind := n.kind(from, to); slices.Contains(shown, to) && (kind == EdgeBlocked || !n.id(to).IsContainer()) {
				edges = append(edges, Edge{From: nodeKey(from), To: nodeKey(to), Kind: kind})
			}
		}
	}
	return edges
}

// nodeKey returns the name of a node in the page: a key may begin with a digit.
func nodeKey(key string) string { return "n-" + key }

// verbs are the words for edges.
var verbs = map[EdgeKind]string{EdgeOwner: "in", EdgeNeeds: "needs", EdgeBlocked: "waits for"}

// node returns the model of a node.
func (n *wiring) node(key string, shown []string, filter Filter, now time.Time) Node {
	id := n.id(key)
	node := Node{Ref: refOf(id, "not managed"), Key: nodeKey(key), Around: address("/graph", "of", id.String())}
	if of, err := resource.ParseID(filter.Of); err == nil {
		node.Chosen = of.Equal(id)
	}
	r, managed := n.state.byKey[key]
	if managed {
		v := backend.ListedView(r)
		node.Ref, node.Reason = refOf(id, v.PhaseName()), string(v.CurrentCondition(now).Reason)
		node.Marks = marksOf(r)
	}
	for _, to := range n.next[key] {
		other := n.id(to)
		if other.IsZero() || other.IsContainer() && n.kind(key, to) == EdgeOwner && !slices.Contains(shown, to) {
			continue
		}
		kind := n.kind(key, to)
		link := NodeLink{Verb: verbs[kind], To: refOf(other, n.state.phaseOf(other.WorkflowID())), Blocked: kind == EdgeBlocked}
		if slices.Contains(shown, to) {
			link.Key = nodeKey(to)
		}
		node.Links = append(node.Links, link)
	}
	return node
}

// marksOf returns the marks of a resource: what a deletion would meet.
func marksOf(r backend.Record) []string {
	var marks []string
	if r.Policy == resource.PolicyProtect {
		marks = append(marks, "protected")
	}
	if holdsData(azure.FactsOf(r.ID.Type())) {
		marks = append(marks, "data")
	}
	if strings.EqualFold(r.ID.Type(), resource.TypeLock) {
		marks = append(marks, "lock")
	}
	return marks
}

// holdsData reports whether a deletion of a resource of a type deletes data.
func holdsData(facts extensions.Facts) bool {
	switch facts.Data.Kind {
	case extensions.DataUnlisted, extensions.DataItem:
		return true
	case extensions.DataNone:
		return false
	}
	return facts.Recreation.Loss == extensions.LossData
}
