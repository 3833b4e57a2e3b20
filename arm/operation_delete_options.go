package arm

import (
	"context"
	"net/http"
	"net/url"
)

// DeleteOptions are what some types want of a DELETE.
type DeleteOptions struct {
	// Query are parameters beside the api-version.
	Query url.Values
	// IfMatch is the ETag that the resource must still have, "*" for any.
	IfMatch string
}

type deleteOptionsKey struct{}

// WithDeleteOptions makes the DELETEs of a context carry the options. They come
// with the context because the one who knows them (a type's extension) is not
// the one who sends the DELETE.
func WithDeleteOptions(ctx context.Context, options DeleteOptions) context.Context {
	return context.WithValue(ctx, deleteOptionsKey{}, options)
}

// deleteOptions are those of the context.
func deleteOptions(ctx context.Context) DeleteOptions {
	options, _ := ctx.Value(deleteOptionsKey{}).(DeleteOptions)
	return options
}

// header is nil where the options name none.
func (o DeleteOptions) header() http.Header {
	if o.IfMatch == "" {
		return nil
	}
	return http.Header{"If-Match": {o.IfMatch}}
}
