package arm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
)

const (
	// storageScope is the scope of tokens for storage accounts, in all clouds
	// (learn.microsoft.com/azure/storage/blobs/authorize-access-azure-active-directory).
	storageScope = "https://storage.azure.com/.default"
	// storageVersion is the version of the service
	// (learn.microsoft.com/rest/api/storageservices/previous-azure-storage-service-versions).
	storageVersion = "2021-12-02"
	// blobTimeout bounds one request.
	blobTimeout = 10 * time.Second
	// maxBlobBytes bounds a document.
	maxBlobBytes = 64 << 10
)

// CallBlob is a read or write of a document in a blob container.
const CallBlob Call = "blob"

// BlobOptions configures Blobs.
type BlobOptions struct {
	// Container is the URL of a blob container.
	Container string
	// Credential issues the tokens; nil sends none, which is allowed to loopback only.
	Credential azcore.TokenCredential
	// Transport is as in Options.
	Transport policy.Transporter
	// Observer and Journal are as in Options.
	Observer func(Request)
	Journal  Journal
}

// Blobs keeps small documents in a blob container. Each write has a condition, so that of
// two writers one learns of the other.
type Blobs struct {
	container string
	pipeline  runtime.Pipeline
}

// NewBlobs returns a client; it sends nothing.
func NewBlobs(options BlobOptions) (*Blobs, error) {
	container := strings.TrimRight(options.Container, "/")
	target, err := url.Parse(container)
	if err != nil || target.Host == "" || strings.Trim(target.Path, "/") == "" || target.RawQuery != "" || target.User != nil {
		return nil, errors.New("must be the URL of a blob container without a query: https://ACCOUNT.blob.core.windows.net/CONTAINER")
	}
	if target.Scheme != "https" && (target.Scheme != "http" || !loopback(target)) {
		return nil, errors.New("must begin with https://")
	}
	if options.Credential == nil && !loopback(target) {
		return nil, errors.New("needs a credential: none is allowed for loopback only")
	}
	transport, err := preparedTransport(options.Transport)
	if err != nil {
		return nil, err
	}
	client := &policy.ClientOptions{
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Transport: &guardedTransport{next: transport, endpoint: target, now: time.Now, observe: options.Observer, journal: options.Journal, hosted: true},
	}
	pipeline := runtime.PipelineOptions{}
	if options.Credential != nil && target.Scheme == "https" {
		pipeline.PerRetry = []policy.Policy{runtime.NewBearerTokenPolicy(guardCredential(options.Credential), []string{storageScope}, nil)}
	}
	return &Blobs{container: container, pipeline: runtime.NewPipeline("armature", "v0.0.0", pipeline, client)}, nil
}

// Read returns a document with its ETag; both are empty where there is none.
func (b *Blobs) Read(ctx context.Context, name string) (document []byte, etag string, err error) {
	response, body, err := b.do(ctx, http.MethodGet, name, nil, nil)
	switch {
	case err != nil:
		return nil, "", err
	case response.StatusCode == http.StatusNotFound && response.Header.Get("X-Ms-Error-Code") == "BlobNotFound":
		return nil, "", nil
	case response.StatusCode != http.StatusOK:
		return nil, "", blobError("read", name, response)
	case len(body) > maxBlobBytes:
		return nil, "", fmt.Errorf("read %s: it is larger than 64 KB", name)
	case response.Header.Get("ETag") == "":
		return nil, "", fmt.Errorf("read %s: the response has no ETag", name)
	}
	return body, response.Header.Get("ETag"), nil
}

// Write writes a document if it still has the ETag, or does not exist where the ETag is
// "", and reports false otherwise.
func (b *Blobs) Write(ctx context.Context, name string, document []byte, etag string) (bool, error) {
	header := http.Header{"If-None-Match": {"*"}, "X-Ms-Blob-Type": {"BlockBlob"}}
	if etag != "" {
		header = http.Header{"If-Match": {etag}, "X-Ms-Blob-Type": {"BlockBlob"}}
	}
	response, _, err := b.do(ctx, http.MethodPut, name, document, header)
	switch {
	case err != nil:
		return false, err
	case response.StatusCode == http.StatusCreated:
		return true, nil
	case response.StatusCode == http.StatusPreconditionFailed, response.StatusCode == http.StatusConflict:
		return false, nil
	}
	return false, blobError("write", name, response)
}

func (b *Blobs) do(ctx context.Context, method, name string, document []byte, header http.Header) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, blobTimeout)
	defer cancel()
	request, err := runtime.NewRequest(withRoundTrip(ctx, &roundTrip{call: CallBlob, typ: "Microsoft.Storage/storageAccounts"}), method, b.container+"/"+name)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	for key, values := range header {
		request.Raw().Header[key] = values
	}
	request.Raw().Header.Set("X-Ms-Version", storageVersion)
	if document != nil {
		if err := request.SetBody(streaming.NopCloser(bytes.NewReader(document)), "application/json"); err != nil {
			return nil, nil, err
		}
	}
	response, err := b.pipeline.Do(request)
	if err != nil {
		return nil, nil, fmt.Errorf("storage account: %w", withoutURL(err))
	}
	body, err := runtime.Payload(response)
	if err != nil {
		return nil, nil, fmt.Errorf("storage account: %w", withoutURL(err))
	}
	return response, body, nil
}

// blobError returns the error of a response, with the code of the service.
func blobError(verb, name string, response *http.Response) error {
	code := response.Header.Get("X-Ms-Error-Code")
	if !apiVersionPattern.MatchString(code) {
		code = "without a code"
	}
	return fmt.Errorf("%s %s: the storage account returned %d %s", verb, name, response.StatusCode, code)
}
