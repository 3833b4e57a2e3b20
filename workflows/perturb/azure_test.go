package perturb

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/armature-io/armature/internal/testonly/cells"
)

const (
	armHost     = "arm.example"
	vaultSuffix = "vault.example"
)

// GetToken returns the token.
func (c constantToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(c), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// transport hands requests to the simulator without a connection.
type transport struct {
	world *world

	mu    sync.Mutex
	older map[string]*answers
}

// answers are the last responses to one request that reads, each unlike the one before.
type answers struct{ before, last *answer }

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// Do sends a request.
func (t *transport) Do(request *http.Request) (*http.Response, error) {
	url, reads := request.URL.String(), request.Method == http.MethodGet
	var response *answer
	c := &call{
		point: point{
			site: siteAzure, name: request.Method + " " + cells.ShortPath(request.URL.Path),
			write: !reads && !isReadAction(request), own: strings.EqualFold(request.URL.Path, t.world.kind.desired.ID.String()),
		},
	}
	c.execute = func() (err error) {
		response, err = t.serve(request)
		if c.own && reads && err == nil && t.world.isHidden() {
			response = failed(http.StatusNotFound, "ResourceNotFound")
		}
		return err
	}
	if reads {
		c.older = t.before(url)
		c.differs = c.older != nil
	}
	if c.write {
		execute := c.execute
		c.execute = func() error {
			t.world.checkWrite(request, c)
			return execute()
		}
	}
	if err := t.world.call(request.Context(), c); err != nil {
		return nil, err
	}
	return cmp.Or(c.instead, response).of(request), nil
}

// serve lets the simulator serve a request.
func (t *transport) serve(request *http.Request) (*answer, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	served := request.Clone(context.WithoutCancel(request.Context()))
	served.Body, served.Host, served.RequestURI = io.NopCloser(bytes.NewReader(body)), request.URL.Host, request.URL.RequestURI()
	served.TLS = &tls.ConnectionState{}
	recorder := httptest.NewRecorder()
	t.world.sim.ServeHTTP(recorder, served)
	response := &answer{recorder.Code, recorder.Header().Clone(), recorder.Body.Bytes()}
	if request.Method == http.MethodGet {
		t.note(request.URL.String(), response)
	}
	return response, nil
}

// note records the response to a request that reads.
func (t *transport) note(url string, response *answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.older[url]
	if known == nil {
		known = &answers{}
		t.older[url] = known
	}
	if known.last == nil || known.last.status != response.status || !bytes.Equal(known.last.body, response.body) {
		known.before, known.last = known.last, response
	}
}

// before returns the response before the last one to a request that reads, nil without one.
func (t *transport) before(url string) *answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.older[url]; known != nil {
		return known.before
	}
	return nil
}

// failed returns an error of Azure.
func failed(status int, code string) *answer {
	return &answer{status, http.Header{"Content-Type": {"application/json"}}, []byte(`{"error":{"code":"` + code + `","message":"Try again later."}}`)}
}

// of returns the response to a request.
func (a *answer) of(request *http.Request) *http.Response {
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Header: a.header.Clone(), Request: request, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}
}

// isReadAction reports whether a POST only reads.
func isReadAction(request *http.Request) bool {
	path := strings.ToLower(request.URL.Path)
	return request.Method == http.MethodPost && strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "list")
}
