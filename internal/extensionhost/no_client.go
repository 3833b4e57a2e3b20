package extensionhost

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// noClient is the client and the resolver of Classify, which knows no resource.
type noClient struct{}

var errNoClient = errors.New("no request was made: the resource is not known here")

func (noClient) Resolve(context.Context, resource.Reference) (extensions.Resolution, error) {
	return extensions.Resolution{}, errNoClient
}

func (noClient) Get(context.Context, resource.ID, string) (arm.Response, error) {
	return arm.Response{}, errNoClient
}

func (noClient) GetWithin(context.Context, resource.ID, string, time.Duration) (arm.Response, error) {
	return arm.Response{}, errNoClient
}

func (noClient) Find(context.Context, resource.ID, string, string, string, int) ([]json.RawMessage, error) {
	return nil, errNoClient
}

func (noClient) Post(context.Context, resource.ID, string, string, []byte) (arm.Operation, error) {
	return arm.Operation{}, errNoClient
}

func (noClient) Put(context.Context, resource.ID, string, []byte, arm.PutOptions) (arm.Operation, error) {
	return arm.Operation{}, errNoClient
}

func (noClient) Patch(context.Context, resource.ID, string, []byte, arm.PutOptions) (arm.Operation, error) {
	return arm.Operation{}, errNoClient
}

func (noClient) Delete(context.Context, resource.ID, string) (arm.Operation, error) {
	return arm.Operation{}, errNoClient
}
