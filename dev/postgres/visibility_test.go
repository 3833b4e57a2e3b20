package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// many is more workflows than fit on the largest page.
	many = 1050
	// keys is the maximum number of keys in ReconcileWaitingFor.
	keys = 32
	// listWithin bounds a page: the CLI waits 10 s, workers wake by lists.
	listWithin = 5 * time.Second
)

// setup checks that a start right after armature setup is not refused, although a
// server on PostgreSQL takes some seconds to know new search attributes.
func (g ground) setup() {
	const namespace = "setup"
	_, err := g.Client.WorkflowService().RegisterNamespace(g.T.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		g.T.Fatal(err)
	}
	g.Until(60*time.Second, "setup of a new namespace", func() (bool, string) {
		result := g.CLIWith("", []string{"TEMPORAL_NAMESPACE=" + namespace}, "setup")
		return result.Code == 0, result.String()
	})
	c, err := client.NewClientFromExisting(g.Client, client.Options{Namespace: namespace})
	if err != nil {
		g.T.Fatal(err)
	}
	_, err = c.ExecuteWorkflow(g.T.Context(), client.StartWorkflowOptions{
		ID: "after-setup", TaskQueue: "no-worker", TypedSearchAttributes: waiting(),
	}, "Waiter")
	if err != nil {
		g.T.Errorf("right after setup the server refuses a start: %v", err)
	}
}

// searchAttributes checks that PostgreSQL returns exactly what SQLite returns.
func (g ground) searchAttributes() {
	answer, err := g.Client.OperatorService().ListSearchAttributes(g.T.Context(),
		&operatorservice.ListSearchAttributesRequest{Namespace: temporaldev.Namespace})
	if err != nil {
		g.T.Fatal(err)
	}
	own := maps.Clone(answer.GetCustomAttributes())
	maps.DeleteFunc(own, func(name string, _ enumspb.IndexedValueType) bool {
		_, ours := workflows.SearchAttributes()[name]
		return !ours
	})
	if diff := cmp.Diff(workflows.SearchAttributes(), own); diff != "" {
		g.T.Errorf("search attributes (-want +registered):\n%s", diff)
	}
	group := subscription + "/resourceGroups/Labels"
	g.MustCLI("apply", "-f", g.Write("labels.yaml", fmt.Sprintf(`type: Microsoft.Resources/resourceGroups@2024-03-01
name: Labels
owner: %[1]s
body: {location: westus2}
labels: {case: group}
---
type: Microsoft.Example/things@2024-01-01
name: upper
owner: %[2]s
body: {location: westus2}
labels: {case: Data, other: "a b"}
---
type: Microsoft.Example/things@2024-01-01
name: lower
owner: %[2]s
body: {location: westus2}
labels: {case: data, other: "a b"}
`, subscription, group)), "--wait", "--timeout", "60s")
	for selector, want := range map[string][]string{
		"case=Data": {"upper"}, "case=data": {"lower"}, "case=DATA": nil, "case=Dat": nil,
		"other=a b": {"lower", "upper"}, "other=a b,case=data": {"lower"}, "other=a": nil,
	} {
		g.Until(20*time.Second, "get -l "+selector, func() (bool, string) {
			got := g.names("get", "-l", selector)
			return slices.Equal(want, got), fmt.Sprint(got)
		})
	}
	if got := g.names("get", strings.ToUpper(group)); !slices.Equal(got, []string{"Labels"}) {
		g.T.Errorf("the group's ID in another case shows %v", got)
	}
	g.pages()
	g.MustCLI("delete", group, "--cascade", "--yes", "--wait", "--timeout", "60s")
}

// names returns the sorted names of the resources that get shows.
func (g ground) names(args ...string) []string {
	g.T.Helper()
	result := g.CLI(append(args, "-o", "json")...)
	var shown []struct{ ID string }
	if strings.TrimSpace(result.Out) != "" {
		if err := json.Unmarshal([]byte(result.Out), &shown); err != nil {
			g.T.Fatalf("%v: %s", err, result)
		}
	}
	var names []string
	for _, r := range shown {
		names = append(names, r.ID[strings.LastIndex(r.ID, "/")+1:])
	}
	slices.Sort(names)
	return names
}

// pages lists more workflows than fit on a page, each with as many keys
// as it may wait for, by those keys. On SQLite a page of 1,000 takes over 10 s.
func (g ground) pages() {
	ids := g.waiters()
	defer g.terminate(ids)
	query := "ReconcileWaitingFor IN ('" + strings.Join(waitingKeys(), "', '") + "') AND ExecutionStatus = 'Running'"
	g.Until(60*time.Second, "all waiters are visible", func() (bool, string) {
		count, err := g.Client.CountWorkflow(g.T.Context(), &workflowservice.CountWorkflowExecutionsRequest{Namespace: temporaldev.Namespace, Query: query})
		return err == nil && count.GetCount() == many, fmt.Sprint(count, err)
	})
	for _, size := range []int32{250, 1000} {
		began, slowest, found := time.Now(), time.Duration(0), map[string]bool{}
		var token []byte
		for more := true; more; more = len(token) > 0 {
			page := time.Now()
			answer, err := g.Client.ListWorkflow(g.T.Context(), &workflowservice.ListWorkflowExecutionsRequest{
				Namespace: temporaldev.Namespace, Query: query, PageSize: size, NextPageToken: token,
			})
			if err != nil {
				g.T.Fatal(err)
			}
			slowest, token = max(slowest, time.Since(page)), answer.GetNextPageToken()
			for _, info := range answer.GetExecutions() {
				found[info.GetExecution().GetWorkflowId()] = true
			}
		}
		g.T.Logf("%d workflows in pages of %d: %s, the slowest page %s", len(found), size, time.Since(began).Round(time.Millisecond), slowest.Round(time.Millisecond))
		if len(found) != many || slowest > listWithin {
			g.T.Errorf("pages of %d brought %d of %d workflows, the slowest in %s", size, len(found), many, slowest)
		}
	}
}

// waiting returns the search attributes of a workflow that waits for the maximum
// number of keys.
func waiting() temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyKeyword("ReconcilePhase").ValueSet(string(workflows.PhasePending)),
		temporal.NewSearchAttributeKeyKeywordList("ReconcileWaitingFor").ValueSet(waitingKeys()),
	)
}

// waitingKeys returns the keys of resources that do not exist.
func waitingKeys() []string {
	var found []string
	for k := range keys {
		id, err := resource.ParseID(fmt.Sprintf("%s/resourceGroups/waiters/providers/Microsoft.Example/things/t%d", subscription, k))
		if err != nil {
			return nil
		}
		found = append(found, workflows.WaitingKey(id))
	}
	return found
}

// waiters starts workflows that no worker serves; all wait for the same things.
func (g ground) waiters() []string {
	g.T.Helper()
	ids := make([]string, many)
	for i := range ids {
		ids[i] = fmt.Sprintf("waiter-%d", i)
	}
	g.each(ids, func(ctx context.Context, id string) error {
		_, err := g.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: id, TaskQueue: "no-worker", TypedSearchAttributes: waiting(),
		}, "Waiter")
		return err
	})
	return ids
}

func (g ground) terminate(ids []string) {
	g.each(ids, func(ctx context.Context, id string) error {
		return g.Client.TerminateWorkflow(ctx, id, "", "the test is over")
	})
}

// each calls a function in sixteen goroutines.
func (g ground) each(ids []string, do func(context.Context, string) error) {
	g.T.Helper()
	var group sync.WaitGroup
	next, faults := make(chan string), make(chan error, len(ids))
	for range 16 {
		group.Go(func() {
			for id := range next {
				if err := do(g.T.Context(), id); err != nil {
					faults <- fmt.Errorf("%s: %w", id, err)
				}
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	group.Wait()
	select {
	case err := <-faults:
		g.T.Fatal(err)
	default:
	}
}
