package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/overlay"
)

// byPeople marks a promise that reviews, the platform or settings elsewhere keep, and no
// program of this repository.
const byPeople = "people"

// promises are the promises of the pages about security, each with the rows that try to break it: a
// heading, or the first cell of a row in a table of promises.
func promises() map[string][]string {
	return map[string][]string{
		"The boundary":    {"finding 2", "attack 20", "attack 37"},
		"Who can do what": {"finding 2"},
		"a reader of the namespace, the database or a backup":                                       {"finding 5", "finding 31", "finding 32"},
		"a sender of messages, without the calls that go [past the hook](#the-hook-of-an-embedder)": {"finding 28", "attack 37", "attack 38", "attack 39", "attack 42", "attack 46"},
		"a writer of the namespace or of its database":                                              {"finding 2", "finding 26", "finding 27", "finding 31", "finding 36", "attack 20", "attack 37", "attack 38", "attack 39", "attack 50", "attack 51"},
		"a restored database, a lagging replica":                                                    {"finding 6", "finding 38", "attack 50"},
		"a holder of a token for the [codec server](../encryption.md#the-codec-server)":             {"finding 31", "attack 41", "attack 42"},
		"a pipeline that applies, and who may change it or merge into the repository":               {byPeople, "finding 19", "attack 37", "attack 46"},
		"who configures or runs a worker, or has root on its host":                                  {byPeople, "finding 11"},
		"the author of a manifest that is applied":                                                  {"finding 3", "finding 4", "attack 11", "attack 12", "attack 13", "attack 15", "attack 21", "attack 43"},
		"the author of a pull request that is only planned":                                         {"finding 16", "finding 17", "finding 18", "attack 23", "attack 24", "attack 44"},
		"a writer of a resource in Azure":                                                           {"finding 1", "finding 10", "finding 25", "attack 27"},
		"ARM, a proxy, an endpoint of a custom cloud":                                               {"finding 24", "attack 1", "attack 2", "attack 3", "attack 22", "attack 30"},
		"a paused or cut-off worker":                                                                {"finding 7"},
		"a local user of a host with `docker-compose.yml`":                                          {"attack 48"},
		"who reaches 9464 (health, metrics)":                                                        {"finding 10", "attack 35"},
		"who reaches 8088 ([codec server](../encryption.md#the-codec-server))":                      {"finding 15", "attack 29", "attack 41", "attack 45"},
		"a user of the CLI": {"finding 28", "attack 42"},
		"a site, or another user, on a computer where [`armature ui`](#security-of-the-pages) runs": {"attack 53", "attack 54", "attack 55", "attack 56"},
		"who reaches the pages of [`armature ui`](../deployment.md#pages-for-a-team) for a team":    {"attack 58", "attack 59", "attack 60", "attack 61", "attack 62"},
		"Security of the pages":              {"attack 53", "attack 54", "attack 55", "attack 56", "attack 58", "attack 59", "attack 60", "attack 61", "attack 62"},
		"the author of rules (YAML)":         {"finding 20", "attack 28"},
		"the author of an extension (Go)":    {byPeople},
		"who runs the simulator":             {"attack 47"},
		"Recommended deployment":             {byPeople},
		"Namespaces":                         {byPeople},
		"Roles":                              {byPeople},
		"Plans of untrusted changes":         {"finding 17"},
		"What Temporal stores":               {"finding 5", "finding 9", "finding 12", "finding 31", "finding 32", "finding 33", "finding 42", "attack 18", "attack 19"},
		"The codec server":                   {"finding 15", "attack 29", "attack 41", "attack 45"},
		"`--oidc-issuer URL`":                {"attack 42"},
		"`--oidc-audience NAME[,NAME]`":      {"attack 42"},
		"`--oidc-allow NAME=VALUE[,...]`":    {"attack 41"},
		"`--oidc-keys KEY:NAME=VALUE[,...]`": {"attack 41"},
		"`--oidc-skew 1m`":                   {"attack 42"},
		"`--tls-cert`, `--tls-key`":          {"attack 45"},
		"`--open`":                           {"attack 45"},
		"Workflows that nobody can read":     {"finding 30", "attack 49", "attack 51"},
		"The hook of an embedder":            {"finding 28", "attack 42", "attack 46", "attack 52"},
		"Freezes":                            {"finding 34", "finding 35", "finding 36", "finding 37", "finding 38", "finding 39", "finding 40", "finding 41"},
		"Starts past the commands":           {"finding 26", "finding 27", "attack 51"},
		"Signed specs":                       {"finding 27", "attack 37", "attack 50"},
		"Times of signatures":                {"attack 37", "attack 50"},
		"Rights in Azure":                    {byPeople},
		"Roles of calls":                     {byPeople},
		"`apply`":                            {"attack 37", "attack 38"},
		"`delete`, `apply --prune`":          {"attack 39"},
		"`reconcile --recreate`":             {"attack 39"},
		"`move`":                             {"attack 37"},
		"`pause`, `resume`, `reconcile`, `delete --abort`, `forget`, `freeze`": {"attack 37"},
		"`unfreeze`": {"finding 41"},
	}
}

// TestPromises checks that each promise of the pages about security names the rows that try to break
// it, and that these exist.
func TestPromises(t *testing.T) {
	root, err := overlay.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	var promised []string
	for _, page := range []string{"security.md", "contributing/security.md", "encryption.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		if page == "encryption.md" {
			text = []byte(codecServer(t, string(text)))
		}
		promised = append(promised, promisesOf(string(text))...)
	}
	var rows []string
	for _, row := range Table() {
		rows = append(rows, row.Name())
	}
	known := promises()
	for _, promise := range promised {
		named := known[promise]
		if len(named) == 0 {
			t.Errorf("the pages promise %q, and no row tries to break it: add one to promises()", promise)
		}
		for _, name := range named {
			if name != byPeople && !slices.Contains(rows, name) {
				t.Errorf("%q names %q, which is no row", promise, name)
			}
		}
		delete(known, promise)
	}
	for promise := range known {
		t.Errorf("no page contains %q", promise)
	}
}

// codecServer returns the section about the codec server, with its heading.
func codecServer(t *testing.T, page string) string {
	t.Helper()
	const heading = "\n## The codec server\n"
	_, section, found := strings.Cut(page, heading)
	if !found {
		t.Fatal("docs/encryption.md has no section about the codec server")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return heading + section
}

// promisesOf returns the headings of a page, and the first cells of its tables of promises.
func promisesOf(page string) []string {
	headers := []string{"| user of Temporal | no setting |", "| user or system | access |", "| flag | meaning |", "| message | signed |"}
	var found []string
	inTable := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		title, isTitle := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		isHeader := slices.ContainsFunc(headers, func(header string) bool { return strings.HasPrefix(line, header) })
		switch {
		case strings.HasPrefix(line, "##") && isTitle:
			found = append(found, title)
		case isHeader:
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable && !strings.HasPrefix(line, "|---"):
			cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			found = append(found, cell)
		}
	}
	return found
}
