package perturb

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/meter"
	"github.com/armature-io/armature/internal/testonly/cells"
)

// process is a worker with the proxies between it and the servers.
type process struct {
	scene    *scene
	worker   *harness.Worker
	temporal *meter.Proxy
	azure    *httptest.Server

	mu sync.Mutex
	// lost is set once the process is killed, cut while its requests to Temporal fail.
	lost, cut bool
	// polls ends the requests that wait for a task.
	polls    context.Context //nolint:containedctx // the polls of a worker have one end
	endPolls context.CancelFunc
}

// startProcess starts a worker whose requests are points of the run.
func (s *scene) startProcess() {
	s.T.Helper()
	p := &process{scene: s}
	p.polls, p.endPolls = context.WithCancel(context.Background())
	var err error
	if p.temporal, err = meter.Start(s.Temporal.Address()); err != nil {
		s.T.Fatal(err)
	}
	p.temporal.Handle(p.serveTemporal)
	target, err := url.Parse(s.Sim.URL())
	if err != nil {
		s.T.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // links in responses lead here
	}}
	p.azure = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serveAzure(forward, w, r) }))
	s.T.Cleanup(func() {
		p.endPolls()
		p.temporal.Stop()
		p.azure.CloseClientConnections()
		p.azure.Close()
	})
	p.worker = s.StartWorker(harness.WorkerOptions{
		NotReady: true, Env: []string{"TEMPORAL_ADDRESS=" + p.temporal.Address(), "ARMATURE_AZURE_ENDPOINT=" + p.azure.URL},
	})
	s.mu.Lock()
	s.processes = append(s.processes, p)
	s.mu.Unlock()
	p.worker.WaitReady()
}

func (p *process) isLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// kill ends the process as kill -9 does, and has another one started.
func (p *process) kill() {
	p.mu.Lock()
	p.lost = true
	p.mu.Unlock()
	_ = syscall.Kill(p.worker.PID(), syscall.SIGKILL) // it may have ended
	p.scene.replace <- struct{}{}
}

// serveAzure lets a request to Azure pass.
func (p *process) serveAzure(forward http.Handler, w http.ResponseWriter, r *http.Request) {
	recorder := httptest.NewRecorder()
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodPost && strings.Contains(strings.ToLower(r.URL.Path), "/list")
	err := p.scene.call(&call{
		point:  point{site: siteAzure, name: r.Method + " " + p.scene.shortPath(r.URL.Path), write: !reads},
		worker: p, ctx: r.Context(),
		send: func() error { forward.ServeHTTP(recorder, r); return nil },
	})
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection
	}
	for name, values := range recorder.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes()) // the worker may be gone
}

// serveTemporal lets a request to Temporal pass.
func (p *process) serveTemporal(ctx context.Context, c *meter.Call) ([]byte, error) {
	if strings.HasPrefix(c.Method, pollPrefix) {
		return p.servePoll(ctx, c)
	}
	if err := p.scene.slow(ctx); err != nil || p.isCut() {
		return nil, unavailable()
	}
	if decode(c.Method+"Request", c.Request) == nil || c.Method == "RespondQueryTaskCompleted" {
		return c.Send(ctx) // a look at the health of the server, or of the test at a workflow
	}
	var response []byte
	err := p.scene.call(&call{
		point: point{site: siteTemporal, name: p.scene.requestName(c)}, worker: p, ctx: ctx,
		send: func() (err error) {
			if response, err = c.Send(ctx); err == nil {
				p.scene.noteTasks(c.Method, response)
			}
			return err
		},
		empty: func() { response = nil },
	})
	if errors.Is(err, errLost) {
		return nil, unavailable()
	}
	return response, err
}

// servePoll lets a task of Temporal pass to the worker. Without a task it is no point.
func (p *process) servePoll(ctx context.Context, c *meter.Call) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	polls := p.polls
	p.mu.Unlock()
	defer context.AfterFunc(polls, cancel)()
	if p.isCut() {
		return nil, unavailable()
	}
	response, err := c.Send(ctx)
	if err != nil {
		return nil, err
	}
	subject := p.scene.noteTasks(c.Method, response)
	if subject == "" {
		return response, nil
	}
	err = p.scene.call(&call{
		point: point{site: siteTemporal, name: c.Method + " " + subject, poll: true}, worker: p, ctx: ctx,
		send: func() error { return nil },
	})
	if err != nil {
		return nil, unavailable()
	}
	return response, nil
}

func (p *process) isCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

func unavailable() error { return status.Error(codes.Unavailable, "the connection is lost") }

// decode returns a message of Temporal's API, nil for an unknown one.
func decode(name string, encoded []byte) protoreflect.Message {
	found, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("temporal.api.workflowservice.v1." + name))
	if err != nil {
		return nil
	}
	message := found.New()
	if proto.Unmarshal(encoded, message.Interface()) != nil {
		return nil
	}
	return message
}

// field returns the value of a field, an invalid one without it.
func field(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	if m == nil {
		return protoreflect.Value{}
	}
	descriptor := m.Descriptor().Fields().ByName(name)
	if descriptor == nil || !m.Has(descriptor) {
		return protoreflect.Value{}
	}
	return m.Get(descriptor)
}

// workflowID returns the ID of the workflow that a message is about, "" for none.
func workflowID(m protoreflect.Message) string {
	if id := field(m, "workflow_id"); id.IsValid() {
		return id.String()
	}
	for _, name := range []protoreflect.Name{"workflow_execution", "execution"} {
		if execution := field(m, name); execution.IsValid() {
			return field(execution.Message(), "workflow_id").String()
		}
	}
	return ""
}

// noteTasks remembers the tasks in a response, and returns the subject of its main one: the type of
// an activity, or the workflow of a workflow task. It returns "" for a response without a task, and
// for a query, which is a look of the test.
func (s *scene) noteTasks(method string, response []byte) string {
	message := decode(method+"Response", response)
	if next := field(message, "workflow_task"); next.IsValid() {
		s.noteTask(next.Message())
	}
	if eager := field(message, "activity_tasks"); eager.IsValid() {
		for i := range eager.List().Len() {
			s.noteTask(eager.List().Get(i).Message())
		}
	}
	if field(message, "query").IsValid() {
		return ""
	}
	return s.noteTask(message)
}

func (s *scene) noteTask(task protoreflect.Message) string {
	token := field(task, "task_token")
	if !token.IsValid() {
		return ""
	}
	subject := s.shortPath(workflowID(task))
	if activity := field(task, "activity_type"); activity.IsValid() {
		subject = field(activity.Message(), "name").String() + " " + subject
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks[string(token.Bytes())] = subject
	return subject
}

// requestName returns the method of a request with its subject.
func (s *scene) requestName(c *meter.Call) string {
	request := decode(c.Method+"Request", c.Request)
	if token := field(request, "task_token"); token.IsValid() {
		s.mu.Lock()
		defer s.mu.Unlock()
		return c.Method + " " + s.tasks[string(token.Bytes())]
	}
	if id := workflowID(request); id != "" {
		return c.Method + " " + s.shortPath(id)
	}
	return c.Method
}

// shortPath returns the last two segments of a path, without the name of the group of the scene.
func (s *scene) shortPath(path string) string {
	return cells.ShortPath(strings.ReplaceAll(path, s.name, "rg"))
}
