package docs

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// pipeline is one of the pipelines of docs/ci.md.
type pipeline struct {
	file string
	// scripts are its shell scripts by job and name: "plan Comment".
	scripts map[string]string
	text    string
}

// pipelines returns the pipelines of docs/ci.md by file.
func pipelines(t *testing.T) map[string]pipeline {
	t.Helper()
	all, err := blocks(pages(t)["docs/ci.md"])
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]pipeline{}
	for _, b := range all {
		if b.language != "yaml" || b.file() == "" {
			continue
		}
		name := strings.TrimPrefix(strings.SplitN(b.text, "\n", 2)[0], "# ")
		var document map[string]any
		if err := yaml.Unmarshal([]byte(b.text), &document); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := pipeline{file: name, scripts: map[string]string{}, text: b.text}
		p.collect("", document)
		found[name] = p
	}
	return found
}

// collect finds the scripts below a value of the document.
func (p pipeline) collect(job string, value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			p.collect(job, item)
		}
	case map[string]any:
		for _, key := range []string{"job", "deployment"} {
			if name, ok := value[key].(string); ok {
				job = name
			}
		}
		name, _ := value["name"].(string)
		if display, ok := value["displayName"].(string); ok {
			name = display
		}
		if inputs, ok := value["inputs"].(map[string]any); ok {
			value = inputs
		}
		for _, key := range []string{"run", "bash", "inlineScript"} {
			if script, ok := value[key].(string); ok {
				p.scripts[job+" "+name] = script
			}
		}
		for key, member := range value {
			inside := job
			if jobs, ok := member.(map[string]any); ok && (jobs["runs-on"] != nil) {
				inside = key
			}
			p.collect(inside, member)
		}
	}
}

const (
	githubFile = ".github/workflows/armature.yml"
	azureFile  = "azure-pipelines.yml"
)

// TestPipelineFiles checks what must hold for both pipelines without running them.
func TestPipelineFiles(t *testing.T) {
	found := pipelines(t)
	expression := regexp.MustCompile(`\$\{\{|\$\(System\.`)
	for _, name := range []string{githubFile, azureFile} {
		p, ok := found[name]
		if !ok {
			t.Fatalf("docs/ci.md has no %s; it has %v", name, found)
		}
		for _, script := range []string{"plan Install", "plan Validate", "plan Plan", "plan Comment", "apply Install", "apply Apply"} {
			if p.scripts[script] == "" {
				t.Errorf("%s has no script %q", name, script)
			}
		}
		for script, text := range p.scripts {
			if !complete(text) {
				t.Errorf("%s: bash does not accept %q", name, script)
			}
			// The title of a pull request, for one, would become a part of the script.
			if expression.MatchString(text) {
				t.Errorf("%s: %q has an expression, which is replaced before the shell sees it; use env", name, script)
			}
			for i, line := range strings.Split(text, "\n") {
				line, _, _ = strings.Cut(line, " > ")
				line, _, _ = strings.Cut(line, " >> ")
				checkFlags(t, i+1, line)
			}
		}
		for _, banned := range []string{"secrets.", "pull_request_target:", "client-secret", "password"} {
			if strings.Contains(p.text, banned) {
				t.Errorf("%s contains %q: nothing is stored, and no stranger's code runs with rights", name, banned)
			}
		}
	}
	var github struct {
		On          map[string]any
		Permissions map[string]string
		Jobs        map[string]struct {
			If          string
			Environment string
			Permissions map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(found[githubFile].text), &github); err != nil {
		t.Fatal(err)
	}
	if len(github.Permissions) != 0 || github.Permissions == nil {
		t.Errorf("permissions of the workflow are %v, want none", github.Permissions)
	}
	plan, apply := github.Jobs["plan"], github.Jobs["apply"]
	if !strings.Contains(plan.If, "head.repo.full_name == github.repository") || plan.Permissions["id-token"] != "write" || plan.Permissions["contents"] != "read" {
		t.Errorf("the plan may run for a fork, or cannot sign in: %+v", plan)
	}
	if apply.Environment != "production" || !strings.Contains(apply.If, "'push'") || apply.Permissions["pull-requests"] != "" {
		t.Errorf("the apply needs no approval, or may run for a pull request: %+v", apply)
	}
	for _, text := range []string{"condition: ne(variables['System.PullRequest.IsFork'], 'True')", "environment: production", "ne(variables['Build.Reason'], 'PullRequest')"} {
		if !strings.Contains(found[azureFile].text, text) {
			t.Errorf("%s lacks %q", azureFile, text)
		}
	}
}

// forge is what the pipelines talk to beside Temporal: the REST APIs of GitHub and Azure
// DevOps for comments, and the file server with the CLI.
type forge struct {
	mu sync.Mutex
	// comments are those of GitHub, threads those of Azure DevOps.
	comments []map[string]any
	threads  []map[string]any
	// created and updated count the requests that changed something.
	created, updated int
	faults           []string
}

const forgeToken = "forge-token-4711"

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Path == "/armature" {
		http.ServeFile(w, r, binaries.CLI)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+forgeToken {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	var sent map[string]any
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			f.faults = append(f.faults, err.Error())
		}
	}
	const (
		issues  = "/repos/contoso/estate/issues"
		threads = "/contoso/project-1/_apis/git/repositories/repository-1/pullRequests/7/threads"
	)
	switch path := r.Method + " " + r.URL.Path; {
	case path == "GET "+issues+"/7/comments":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		first := min((page-1)*100, len(f.comments))
		reply(w, f.comments[first:min(first+100, len(f.comments))])
	case path == "POST "+issues+"/7/comments":
		f.created++
		sent["id"], sent["user"] = 1000+len(f.comments), map[string]any{"login": "github-actions[bot]"}
		f.comments = append(f.comments, sent)
		reply(w, sent)
	case strings.HasPrefix(path, "PATCH "+issues+"/comments/"):
		at := slices.IndexFunc(f.comments, func(c map[string]any) bool { return strings.HasSuffix(path, fmt.Sprintf("/%v", c["id"])) })
		if at < 0 {
			http.NotFound(w, r)
			return
		}
		f.updated++
		f.comments[at]["body"] = sent["body"]
		reply(w, f.comments[at])
	case path == "GET "+threads:
		reply(w, map[string]any{"value": f.threads})
	case path == "POST "+threads:
		f.created++
		sent["id"] = 2000 + len(f.threads)
		f.threads = append(f.threads, sent)
		reply(w, sent)
	case strings.HasPrefix(path, "PATCH "+threads+"/") && strings.HasSuffix(path, "/comments/1"):
		for _, thread := range f.threads {
			if strings.Contains(path, fmt.Sprintf("/%v/", thread["id"])) {
				f.updated++
				thread["comments"] = []any{sent}
			}
		}
		reply(w, sent)
	default:
		f.faults = append(f.faults, path)
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that is gone is seen by its script
}

// TestPipelines runs the scripts of both pipelines: against the simulator, and against a
// forge and an az that answer as the real ones do.
func TestPipelines(t *testing.T) {
	for _, tool := range []string{"jq", "curl", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here: the runners of GitHub and Azure DevOps have it; install it to run this test", tool)
		}
	}
	found := pipelines(t)
	for name, comment := range map[string]func(f *forge) string{
		githubFile: func(f *forge) string { return fmt.Sprint(f.comments[len(f.comments)-1]["body"]) },
		azureFile: func(f *forge) string {
			first := f.threads[len(f.threads)-1]["comments"].([]any)[0].(map[string]any)
			return fmt.Sprint(first["content"])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &forge{}
			// Others quote the marker; their comments are left alone.
			for i := range 120 {
				f.comments = append(f.comments, map[string]any{"id": i + 1, "user": map[string]any{"login": "mallory"}, "body": "<!-- armature-plan -->\nquoted"})
			}
			f.threads = []map[string]any{{"id": 1, "comments": []any{map[string]any{"content": "<!-- armature-plan -->"}}, "properties": map[string]any{}}}
			runPipeline(t, found[name], f, comment)
		})
	}
}

// runPipeline plans twice for a pull request, applies after the merge, and plans again.
func runPipeline(t *testing.T, p pipeline, f *forge, comment func(*forge) string) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	s := newSession(t, "ready")
	s.prepare(server.URL)
	s.script(p.scripts["plan Install"], 0)
	s.script(p.scripts["plan Validate"], 0)
	s.script(p.scripts["plan Plan"], 0)
	s.script(`digest=$(jq -r .digest stack.plan) && grep -q "$digest" plan.md && grep -q "$digest" plan.html`, 0)
	s.script(p.scripts["plan Comment"], 0)
	first := comment(f)
	if !strings.HasPrefix(first, "<!-- armature-plan -->\n**Plan: ") || !strings.Contains(first, "2 to create") || f.created != 1 || f.updated != 0 {
		t.Fatalf("%d created, %d updated: %s; faults %v", f.created, f.updated, first, f.faults)
	}
	s.script("sed -i 's/10.1.0.0/10.2.0.0/' manifests/network.yaml", 0)
	s.script(p.scripts["plan Plan"], 0)
	s.script(p.scripts["plan Comment"], 0)
	if second := comment(f); !strings.Contains(second, "10.2.0.0") || f.created != 1 || f.updated != 1 {
		t.Fatalf("%d created, %d updated; the second plan is not in the one comment: %s", f.created, f.updated, second)
	}
	s.script(p.scripts["apply Install"], 0)
	s.script("mkdir -p plan && cp stack.plan plan/", 0)
	s.script(p.scripts["apply Apply"], 0)
	s.script(`jq -e '[.resources[] | select(.result == "managed" and .generation == 1 and .condition.ready)] | length == 2' applied.json`, 0)
	if script := p.scripts["apply Summary"]; script != "" {
		s.script(script, 0)
	}
	s.script("armature plan -f manifests", 0)
	s.script("echo 'type: x' > manifests/broken.yaml", 0)
	s.script(p.scripts["plan Validate"], 2)
	s.script(p.scripts["plan Plan"], 1)
	s.script("grep -q 'no plan</span>' plan.html", 0)
	s.script(p.scripts["plan Comment"], 0)
	if third := comment(f); !strings.Contains(third, "No plan: 1 fault") || !strings.Contains(third, "manifests/broken.yaml:1:1") || f.created != 1 {
		t.Errorf("a plan that fails leaves the old one in the comment: %s", third)
	}
	if len(f.faults) > 0 {
		t.Errorf("requests that no forge answers: %v", f.faults)
	}
}

// prepare gives a session what a runner has: the variables of both kinds, an az that is
// signed in, and the files of a pull request.
func (s session) prepare(forge string) {
	s.t.Helper()
	raw, err := os.ReadFile(binaries.CLI)
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		s.t.Fatal(err)
	}
	files := map[string]string{
		"tools/az": `#!/bin/bash
# az keyvault secret show --vault-name V --name N --query value --output tsv
[ "$1 $2 $3 $5" = "keyvault secret show vault-1" ] || { echo "az $*" >&2; exit 1; }
case "$7" in
armature-signing-key) cat "` + s.folder + `/signing.pem" ;;
temporal-plan | temporal-apply) echo key-4711 ;;
*) exit 1 ;;
esac
`,
		"signing.pem": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"manifests/network.yaml": `type: Microsoft.Resources/resourceGroups@2021-04-01
name: ci
owner: /subscriptions/11111111-2222-3333-4444-555555555555
body: {location: westus2}
---
type: Microsoft.Network/virtualNetworks@2024-01-01
name: net
owner: ci
body: {location: westus2, properties: {addressSpace: {addressPrefixes: [10.1.0.0/16]}}}
`,
	}
	for name, text := range files {
		path := filepath.Join(s.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, line := range []string{
		"mkdir -p temp && export RUNNER_TEMP=$PWD/temp AGENT_TEMPDIRECTORY=$PWD/temp PIPELINE_WORKSPACE=$PWD",
		"export GITHUB_PATH=$PWD/temp/path GITHUB_STEP_SUMMARY=$PWD/temp/summary GITHUB_OUTPUT=$PWD/temp/output",
		"export GITHUB_API_URL=" + forge + " GITHUB_REPOSITORY=contoso/estate NUMBER=7 TOKEN=" + forgeToken,
		"export SYSTEM_COLLECTIONURI=" + forge + "/contoso/ SYSTEM_TEAMPROJECTID=project-1 BUILD_REPOSITORY_ID=repository-1 SYSTEM_PULLREQUEST_PULLREQUESTID=7",
		"export ARMATURE_URL=" + forge + "/armature ARMATURE_SHA256=" + hex.EncodeToString(sum[:]) + " VAULT=vault-1",
		// The server of the test has no TLS, which a key would turn on.
		"export TEMPORAL_TLS=false PATH=$PWD/tools:$PATH",
	} {
		if output, exit := s.run(command{text: line}); exit != 0 {
			s.t.Fatalf("%s: %s", line, strings.Join(output, "\n"))
		}
	}
}

// script runs the script of a step as a runner does, with the CLI that Install fetched.
func (s session) script(text string, want int) {
	s.t.Helper()
	file := filepath.Join(s.folder, "step.sh")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	output, exit := s.run(command{text: `PATH="$PWD/temp:$PWD/temp/bin:$PATH" bash --noprofile --norc -eo pipefail step.sh`})
	if exit != want {
		s.t.Fatalf("exit code %d, want %d:\n%s\n%s", exit, want, text, strings.Join(output, "\n"))
	}
}
