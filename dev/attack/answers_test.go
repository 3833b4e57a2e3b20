package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/hostile"
	"github.com/armature-io/armature/workflows"
)

// TestBadAnswers checks that no answer of ARM moves the worker to another host, fills
// its memory or makes it write twice, and that each resource is Ready afterwards.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	s := newScene(t, "answers").serve()
	cases := map[string]func(*testing.T){}
	for name, answer := range badReads(s) {
		cases["read "+name] = func(t *testing.T) {
			s := s.on(t)
			id := s.id("r-" + strings.ReplaceAll(name, " ", "-"))
			s.arm.Answer(http.MethodGet, id, 2, answer)
			s.apply(id[strings.LastIndex(id, "/")+1:])
			s.ready(id)
		}
	}
	for name, change := range badWrites(s) {
		cases["write "+name] = func(t *testing.T) {
			s := s.on(t)
			id := s.id("w-" + strings.ReplaceAll(name, " ", "-"))
			s.arm.Change(http.MethodPut, id, 1, change)
			s.apply(id[strings.LastIndex(id, "/")+1:])
			s.ready(id)
		}
	}
	sideBySide(t, cases)
	for _, request := range s.arm.Requests(s.group() + "/providers/*") {
		if !strings.HasPrefix(request.Authorization, "Bearer ") {
			t.Fatalf("%s %s carried no token, so the test proves nothing", request.Method, request.Path)
		}
	}
	if bytes := s.peakMemory(); bytes > 512<<20 {
		t.Errorf("the worker used %d MB", bytes>>20)
	}
	if requests := s.arm.Requests(s.id("trap")); len(requests) > 0 {
		t.Errorf("the redirect of a PUT was followed: %v", requests)
	}
}

// badReads are answers to a GET that is no resource.
func badReads(s *scene) map[string]http.HandlerFunc {
	const ok = http.StatusOK
	own := s.arm.Host()
	return map[string]http.HandlerFunc{
		"redirect":          hostile.Redirect(http.StatusTemporaryRedirect, s.elsewhere.URL()+"/a"),
		"redirect no host":  hostile.Redirect(http.StatusFound, "//"+s.elsewhere.Host()+"/a"),
		"redirect user":     hostile.Redirect(http.StatusPermanentRedirect, "https://"+own+"@"+s.elsewhere.Host()+"/a"),
		"html":              hostile.Reply(ok, "<html>sign in</html>", "Content-Type", "text/html"),
		"empty":             hostile.Reply(ok, ""),
		"null":              hostile.Reply(ok, "null"),
		"array":             hostile.Reply(ok, "[]"),
		"two texts":         hostile.Reply(ok, "{}{}"),
		"truncated":         hostile.Truncated(ok),
		"no content":        hostile.Reply(http.StatusNoContent, ""),
		"not modified":      hostile.Reply(http.StatusNotModified, ""),
		"404 of a gateway":  hostile.Reply(http.StatusNotFound, "<html>", "Content-Type", "text/html"),
		"40 MB":             hostile.Large(40 << 20),
		"3 GB compressed":   hostile.GzipBomb(3 << 30),
		"9000 levels":       hostile.Deep(9000),
		"header line break": hostile.Raw("HTTP/1.1 200 OK\r\nX-A: b\nAuthorization: x\r\nContent-Length: 2\r\n\r\n{}"),
		"retry in the past": hostile.Reply(http.StatusServiceUnavailable, "{}", "Retry-After", "-99999999999"),
		"no UTF-8":          hostile.Reply(ok, "{\"a\":\"\xff\xfe\x00\"}"),
	}
}

// badWrites change the answer to a PUT that has taken effect.
func badWrites(s *scene) map[string]func(*httptest.ResponseRecorder) {
	operation := s.elsewhere.URL() + s.group() + "/operations/1"
	reply := func(status int, body string, headers ...string) func(*httptest.ResponseRecorder) {
		return func(r *httptest.ResponseRecorder) {
			r.Code = status
			r.Body.Reset()
			r.Body.WriteString(body)
			clear(r.Header())
			for i := 0; i+1 < len(headers); i += 2 {
				r.Header().Set(headers[i], headers[i+1])
			}
		}
	}
	return map[string]func(*httptest.ResponseRecorder){
		"html":               reply(http.StatusOK, "<html>", "Content-Type", "text/html"),
		"empty":              reply(http.StatusCreated, ""),
		"null":               reply(http.StatusOK, "null"),
		"truncated":          reply(http.StatusCreated, `{"id":`),
		"operation":          reply(http.StatusCreated, `{"properties":{"provisioningState":"Creating"}}`, "Azure-AsyncOperation", operation),
		"location":           reply(http.StatusAccepted, "", "Location", operation),
		"location user":      reply(http.StatusAccepted, "", "Location", "https://"+s.arm.Host()+"@"+s.elsewhere.Host()+"/a"),
		"operation no host":  reply(http.StatusAccepted, "", "Azure-AsyncOperation", "//"+s.elsewhere.Host()+"/a"),
		"redirect elsewhere": reply(http.StatusTemporaryRedirect, "", "Location", s.elsewhere.URL()+"/a"),
		"redirect inside":    reply(http.StatusTemporaryRedirect, "", "Location", s.arm.URL()+s.id("trap")),
		"gateway error":      reply(http.StatusBadGateway, "<html>", "Content-Type", "text/html"),
	}
}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory returns the largest resident size of the worker so far, in bytes.
func (s *scene) peakMemory() int64 {
	s.T.Helper()
	return peakMemoryOf(s.T, s.worker.PID())
}

func peakMemoryOf(t testing.TB, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	match := peak.FindSubmatch(status)
	if match == nil {
		t.Fatalf("no VmHWM in %s", status)
	}
	kilobytes, err := strconv.ParseInt(string(match[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// TestOtherResource checks that an answer with the ID of another resource is refused,
// also after a redirect on the same host: it is neither compared nor imported, and
// nothing is written.
func TestOtherResource(t *testing.T) {
	t.Parallel()
	s := newScene(t, "other").serve()
	victim := map[string]any{"id": s.id("victim"), "name": "victim", "type": "Microsoft.Example/things", "location": "westus2",
		"properties": map[string]any{"size": 2, "provisioningState": "Succeeded"}}
	s.put(s.id("victim"), victim)
	s.arm.Answer(http.MethodGet, s.id("answered"), 0, hostile.JSON(victim))
	s.arm.Answer(http.MethodGet, s.id("redirected"), 0, hostile.Redirect(http.StatusTemporaryRedirect, s.arm.URL()+s.id("victim")+"?api-version=2021-01-01"))
	for _, name := range []string{"answered", "redirected"} {
		s.apply(name)
	}
	for _, name := range []string{"answered", "redirected"} {
		s.UntilStatus(30*time.Second, s.id(name), "is refused", func(status workflows.Status) bool {
			return status.Pass > 0 && !status.Condition.Ready && status.Condition.Reason != ""
		})
		if s.arm.Count(http.MethodPut, s.id(name)) > 0 {
			t.Errorf("%s: an answer about another resource led to a PUT", name)
		}
		if imported := s.CLI("import", s.id(name)+"@2021-01-01"); imported.Code == 0 || strings.Contains(imported.Out, "size: 2") {
			t.Errorf("%s: another resource was imported: %s", name, imported)
		}
	}
}
