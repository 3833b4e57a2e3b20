package repo

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// pipeline is a workflow of GitHub Actions, as far as the tests look at it.
type pipeline struct {
	On          yaml.Node `yaml:"on"`
	Permissions *map[string]string
	Jobs        map[string]pipelineJob
}

type pipelineJob struct {
	Uses        string
	Needs       []string
	Permissions *map[string]string
	Timeout     int `yaml:"timeout-minutes"`
	Container   struct{ Image string }
	Strategy    struct{ Matrix map[string][]string }
	Steps       []pipelineStep
}

type pipelineStep struct {
	Uses, Run string
	With      map[string]string
}

// pipelines returns the workflows of this repository by file.
func pipelines(t *testing.T) map[string]pipeline {
	t.Helper()
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]pipeline{}
	for _, file := range files {
		var p pipeline
		readYAML(t, file, &p)
		found[filepath.Base(file)] = p
	}
	for _, name := range []string{"ci.yml", "release.yml"} {
		if len(found[name].Jobs) == 0 {
			t.Fatalf(".github/workflows/%s has no jobs", name)
		}
	}
	return found
}

// Every action is pinned by its commit, with the version beside it for readers, and is
// the same commit wherever it is used.
func TestActionsArePinned(t *testing.T) {
	use := regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+/([\w./-]+@[0-9a-f]{40}) # v\d+\.\d+\.\d+$`)
	commits := map[string]string{}
	for file, p := range pipelines(t) {
		inText := use.FindAllStringSubmatch(fileText(t, ".github/workflows/"+file), -1)
		inYAML := 0
		for _, job := range p.Jobs {
			for _, step := range job.Steps {
				if step.Uses != "" {
					inYAML++
				}
			}
			if job.Uses != "" {
				inYAML++
			}
		}
		if len(inText) != inYAML {
			t.Errorf("%s: %d lines with uses, %d actions: write one in a line", file, len(inText), inYAML)
		}
		for _, match := range inText {
			if strings.HasPrefix(match[1], "./") {
				fileText(t, match[1])
				continue
			}
			if !pinned.MatchString(match[1]) {
				t.Errorf("%s: %s is not pinned by a commit with its version in a comment", file, match[1])
			}
			name, commit, _ := strings.Cut(match[1], "@")
			if before := commits[name]; before != "" && before != commit {
				t.Errorf("%s: %s is %s here and %s elsewhere", file, name, commit, before)
			}
			commits[name] = commit
		}
	}
}

// writers are the rights beyond reading that a job of a workflow may have.
var writers = map[string]map[string]string{
	"release.yml images":  {"packages": "write", "id-token": "write", "attestations": "write"},
	"release.yml publish": {"contents": "write", "id-token": "write"},
}

// Every workflow begins with no rights, and every job states its own: those that build
// and test only read, and those that sign and publish compile and run no file of the
// repository.
func TestWorkflowPermissions(t *testing.T) {
	for file, p := range pipelines(t) {
		if p.Permissions == nil || len(*p.Permissions) > 0 {
			t.Errorf("%s does not begin with permissions: {}", file)
		}
		if strings.Contains(fileText(t, ".github/workflows/"+file), "pull_request_target") {
			t.Errorf("%s runs changes of others with the rights of this repository", file)
		}
		for name, job := range p.Jobs {
			if job.Permissions == nil {
				t.Errorf("%s: job %s does not state its permissions", file, name)
				continue
			}
			allowed := writers[file+" "+name]
			for scope, right := range *job.Permissions {
				if right != "read" && allowed[scope] != right {
					t.Errorf("%s: job %s has %s: %s, which the table of this test does not have", file, name, scope, right)
				}
			}
			for _, step := range job.Steps {
				if len(allowed) > 0 && (strings.Contains(step.Run, "make ") || strings.Contains(step.Run, "go ") || strings.Contains(step.Run, "./")) {
					t.Errorf("%s: job %s has rights to write and runs %q", file, name, step.Run)
				}
				if len(allowed) > 0 && (strings.HasPrefix(step.Uses, "docker/build-push-action@") || strings.HasPrefix(step.Uses, "actions/checkout@")) {
					t.Errorf("%s: job %s has rights to write, and reads the repository or builds images", file, name)
				}
			}
		}
	}
}

// Steps keep no credentials in the checkout, run no text of an event as a command, and
// end; the make targets, files and jobs that they name exist.
func TestWorkflowSteps(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(fileText(t, "Makefile"), -1) {
		targets[match[1]] = true
	}
	command := regexp.MustCompile(`(?m)(?:^|[;&|])[ \t]*make ((?:[a-zA-Z_-]+(?:=\S*)?[ \t]*)+)$`)
	makes := 0
	for file, p := range pipelines(t) {
		for name, job := range p.Jobs {
			if job.Uses == "" && job.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", file, name)
			}
			for _, need := range job.Needs {
				if _, found := p.Jobs[need]; !found {
					t.Errorf("%s: job %s needs %s, which is no job", file, name, need)
				}
			}
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s keeps the token in the checkout", file, name)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: job %s: %q has an expression in a command; pass it in env", file, name, step.Run)
				}
				for _, match := range command.FindAllStringSubmatch(step.Run, -1) {
					for _, word := range strings.Fields(match[1]) {
						makes++
						if !strings.Contains(word, "=") && !targets[word] {
							t.Errorf("%s: job %s runs make %s, which the Makefile does not have", file, name, word)
						}
					}
				}
			}
		}
	}
	if makes < 3 {
		t.Errorf("only %d targets of make were found", makes)
	}
	if run := fileText(t, ".ci/run"); !strings.Contains(run, "make check") {
		t.Error(".ci/run does not run make check")
	}
	if !slices.ContainsFunc(pipelines(t)["ci.yml"].Jobs["check"].Steps, func(s pipelineStep) bool { return s.Run == ".ci/run" }) {
		t.Error("ci.yml does not run .ci/run")
	}
}

// A release waits for all checks, builds with the Go of the Dockerfile, checks
// vulnerabilities without a way to skip, builds twice, and pushes the archive of each image after
// a check of its sum.
func TestReleaseWorkflow(t *testing.T) {
	all := pipelines(t)
	release, builder := all["release.yml"].Jobs, regexp.MustCompile(`golang:\S+`).FindString(stages(t)["debian"])
	for name, job := range map[string]pipelineJob{"check": all["ci.yml"].Jobs["check"], "build": release["build"]} {
		if job.Container.Image != builder {
			t.Errorf("job %s runs in %s, the Dockerfile builds in %s", name, job.Container.Image, builder)
		}
	}
	if release["check"].Uses != "./.github/workflows/ci.yml" {
		t.Error("a release does not run the checks")
	}
	for _, job := range []string{"images", "publish"} {
		for _, need := range []string{"check", "build"} {
			if !slices.Contains(release[job].Needs, need) {
				t.Errorf("job %s does not wait for %s", job, need)
			}
		}
	}
	var run strings.Builder
	for _, step := range release["build"].Steps {
		run.WriteString(step.Run + "\n")
	}
	for _, want := range []string{"make vulnerabilities REQUIRED=1", "make release"} {
		if !strings.Contains(run.String(), want) {
			t.Errorf("the job build does not run %s", want)
		}
	}
	if !strings.Contains(fileText(t, "Makefile"), " licenses reproducible VERSION=") {
		t.Error("make release does not check licenses, or does not build twice")
	}
	checked := slices.IndexFunc(release["images"].Steps, func(s pipelineStep) bool { return strings.Contains(s.Run, "sha256sum --check --strict SHA256SUMS") })
	pushed := slices.IndexFunc(release["images"].Steps, func(s pipelineStep) bool {
		return strings.Contains(s.Run, `skopeo copy --all --preserve-digests --digestfile digest "oci-archive:dist/$TARGET.oci.tar"`)
	})
	if checked < 0 || pushed < checked {
		t.Errorf("step %d pushes the images, step %d checks the sums of the archives", pushed, checked)
	}
	images := slices.Sorted(maps.Keys(stages(t)))
	images = slices.DeleteFunc(images, func(name string) bool { return name == "build" || name == "debian" })
	if got := slices.Sorted(slices.Values(release["images"].Strategy.Matrix["target"])); !slices.Equal(got, images) {
		t.Errorf("the release has the images %v, the Dockerfile has %v", got, images)
	}
}

// The modules that docs/contributing/release.md names for their missing maintenance are still required,
// and only by other modules.
func TestUnmaintainedModules(t *testing.T) {
	_, section, _ := strings.Cut(fileText(t, "docs/contributing/release.md"), "\n## Modules without maintenance\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1)
	if len(rows) == 0 {
		t.Fatal("the page names no module")
	}
	modules := fileText(t, "go.mod")
	for _, row := range rows {
		if !regexp.MustCompile(`(?m)^\s` + regexp.QuoteMeta(row[1]) + ` \S+ // indirect$`).MatchString(modules) {
			t.Errorf("docs/contributing/release.md names %s, which go.mod does not require for other modules", row[1])
		}
	}
}
