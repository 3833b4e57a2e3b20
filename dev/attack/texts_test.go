package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	sdkpb "go.temporal.io/api/sdk/v1"

	"github.com/armature-io/armature/dev/internal/hostile"
	"github.com/armature-io/armature/workflows"
)

// hostileCodes are codes of errors that attack a terminal, a page or a log.
func hostileCodes() map[string]string {
	return map[string]string{
		"escape":   "Bad\x1b[31mCode",
		"title":    "Bad\x1b]0;owned\x07Code",
		"bidi":     "Bad\u202eedoC",
		"c1":       "Bad\u009b31mCode",
		"markdown": "Oops\n\n# Action needed\n[Re-authenticate here](http://evil.example/login)",
		"table":    "Oops | a | b |\n| - |",
		"long":     strings.Repeat("A", 5000),
		"line":     "Oops\n::error file=a::injected",
	}
}

// hostileMessage attacks a terminal, a log of CI, and Markdown.
const hostileMessage = "no \x1b[2J\x1b]0;owned\x07\u202etxet\u200b\u009b1m\r\n::error::injected\n# Action needed\n\\[also](http://evil.example) <img src=http://evil.example/x> ![i](http://evil.example/y)"

// TestErrorTexts checks that errors of ARM stay text: in the output of every command, in
// the page of the Web UI and in the labels of metrics.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	s := newScene(t, "texts").serve()
	for name, code := range hostileCodes() {
		s.arm.Answer(http.MethodGet, s.id(name), 0, hostile.Error(http.StatusBadRequest, code, hostileMessage))
		s.apply(name)
	}
	for name := range hostileCodes() {
		id := s.id(name)
		status := s.UntilStatus(30*time.Second, id, "has a reason", func(status workflows.Status) bool { return status.Pass > 0 && status.Condition.Reason != "" })
		if !reasonForm.MatchString(string(status.Condition.Reason)) {
			t.Errorf("%s: the reason is %q", name, status.Condition.Reason)
		}
		for _, args := range [][]string{{"get", id}, {"get", id, "-o", "wide"}, {"get", id, "-o", "json"}, {"get", id, "-o", "yaml"}, {"describe", id}, {"why", id}, {"wait", id, "--timeout", "1s"}} {
			result := s.CLI(args...)
			if bad := unprintable(result.Out + result.Err); bad != "" {
				t.Errorf("%s: armature %s prints %s", name, args[0], bad)
			}
			if workflowCommand.MatchString(result.Out + result.Err) {
				t.Errorf("%s: armature %s prints a command of CI:\n%s", name, args[0], result.Out+result.Err)
			}
		}
		if bad := activeMarkdown(s.page(id)); bad != "" {
			t.Errorf("%s: the page of the Web UI has %q", name, bad)
		}
	}
	_, metrics := s.worker.Get("/metrics")
	if bad := unprintable(metrics); bad != "" || strings.Contains(metrics, "evil.example") {
		t.Errorf("metrics contain a text of ARM: %s", bad)
	}
}

// TestReasonsAreBounded checks that ARM cannot make a series of a metric for each code
// that it invents.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	s := newScene(t, "series").serve()
	const codes = 20
	for i := range codes {
		name := fmt.Sprintf("code%02d", i)
		s.arm.Answer(http.MethodGet, s.id(name), 0, hostile.Error(http.StatusBadRequest, "Invented"+name, "no"))
		s.apply(name)
	}
	for i := range codes {
		s.UntilStatus(30*time.Second, s.id(fmt.Sprintf("code%02d", i)), "has a reason", func(status workflows.Status) bool {
			return strings.HasPrefix(string(status.Condition.Reason), "Invented")
		})
	}
	_, metrics := s.worker.Get("/metrics")
	if strings.Contains(metrics, "Invented") || !strings.Contains(metrics, `reason="other"`) {
		t.Error("codes that ARM invents are labels of metrics")
	}
}

// TestEchoedSecret checks that a secret which ARM repeats in a code or a message, in any
// written form, reaches neither Temporal nor outputs, metrics and logs.
func TestEchoedSecret(t *testing.T) {
	t.Parallel()
	const secret = "TeamB-Pa55word-9x/ä"
	s := newScene(t, "echo").serve("ARMATURE_SECRET_ATTACK="+secret, "ARMATURE_LOG_LEVEL=debug", "AZURE_SDK_GO_LOGGING=all")
	var wide []byte
	for _, unit := range utf16.Encode([]rune(secret)) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	forms := map[string]string{
		"plain": secret, "hex": hex.EncodeToString([]byte(secret)), "upper-hex": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"utf16": base64.StdEncoding.EncodeToString(wide), "url": url.QueryEscape(secret), "url-twice": url.QueryEscape(url.QueryEscape(secret)),
		"lower": strings.ToLower(secret), "upper": strings.ToUpper(secret),
		"small-percent": "TeamB-Pa55word-9x%2f%c3%a4", "slashes": `TeamB-Pa55word-9x\/\u00e4`, "entities": "TeamB-Pa55word-9x&#x2f;&auml;",
		"json-in-json": `TeamB\\u002dPa55word-9x\\/\\u00e4`, "user-base64": base64.StdEncoding.EncodeToString([]byte("user:" + secret))[8:], "piece": "TeamB-Pa55word-9x",
	}
	for name, form := range forms {
		for kind, answer := range map[string]http.HandlerFunc{
			"code": hostile.Error(http.StatusBadRequest, form, "refused"), "message": hostile.Error(http.StatusBadRequest, "Weak", "the value "+form+" is weak"),
		} {
			s.arm.Answer(http.MethodPut, s.id(name+"-"+kind), 0, answer)
			s.MustCLI("apply", "-f", s.manifest(name+"-"+kind, "password: {$secret: env:ARMATURE_SECRET_ATTACK}"))
		}
	}
	var shown strings.Builder
	for name := range forms {
		for _, kind := range []string{"code", "message"} {
			id := s.id(name + "-" + kind)
			s.UntilStatus(45*time.Second, id, "has failed", func(status workflows.Status) bool {
				return s.arm.Count(http.MethodPut, id) > 0 && status.Condition.Reason != "" && !status.Condition.Ready && status.Pass > 0
			})
			shown.WriteString(s.AllHistoryLines(id) + s.CLI("get", id, "-o", "json").Out + s.CLI("describe", id).Out)
		}
	}
	_, metrics := s.worker.Get("/metrics")
	for place, text := range map[string]string{"Temporal or an output": shown.String(), "metrics": metrics, "the worker's log": s.worker.Log()} {
		for name, form := range forms {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("the secret as %s is in %s: ...%q", name, place, text[max(0, i-60):min(len(text), i+len(form)+20)])
			}
		}
	}
}

// page returns the Markdown that the Web UI shows of a resource.
func (s *scene) page(id string) string {
	s.T.Helper()
	value, err := s.Client.QueryWorkflow(s.T.Context(), s.WorkflowID(id), "", "__temporal_workflow_metadata")
	if err != nil {
		s.T.Fatal(err)
	}
	metadata := &sdkpb.WorkflowMetadata{}
	if err := value.Get(metadata); err != nil {
		s.T.Fatal(err)
	}
	page := metadata.GetCurrentDetails()
	if !strings.Contains(page, "| reason |") {
		s.T.Fatalf("no page: %q", page)
	}
	return page
}

// reasonForm is the form of a reason: ARM's codes have no other.
var reasonForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,80}$`)

// workflowCommand is a line that GitHub Actions or Azure Pipelines carries out.
var workflowCommand = regexp.MustCompile(`(?m)^\s*(::(error|warning|set-output|add-mask|stop-commands)|##vso\[)`)

// activeMarkdown returns the first link, image, heading or tag that a page contains, or
// "". Backslashes that are escaped themselves escape nothing.
func activeMarkdown(page string) string {
	bare := strings.ReplaceAll(page, `\\`, "")
	for _, pattern := range markdownPatterns {
		if found := pattern.FindString(bare); found != "" {
			return found
		}
	}
	return ""
}

var markdownPatterns = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^#+ .*`),
	regexp.MustCompile(`(?:^|[^\\])\[[^\]\n]*\]\([^)\n]*\)`),
	regexp.MustCompile(`(?i)<(a|img|script|iframe)\b`),
}

// unprintable returns the first control or format character of an output other than tabs
// and line ends, or "". Tests have no terminal, so the CLI sets no colors of its own.
func unprintable(text string) string {
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			return fmt.Sprintf("%U in %q", r, text[max(0, i-30):min(len(text), i+30)])
		}
	}
	return ""
}
