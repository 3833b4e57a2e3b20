package arm

import (
	"context"
	"maps"
	"net/http"
	"net/url"
)

// DeleteOptions are the options of a DELETE that some types need.
type DeleteOptions struct {
	// Query are parameters beside the api-version.
	Query url.Values
	// IfMatch is the ETag that the resource must still have, "*" for any.
	IfMatch string
}

type deleteOptionsKey struct{}

// WithDeleteOptions sets the options for the DELETEs of the context. They travel in
// the context because they are known to the type's extension, which does not send
// the DELETE itself.
func WithDeleteOptions(ctx context.Context, options DeleteOptions) context.Context {
	return context.WithValue(ctx, deleteOptionsKey{}, options)
}

// WithDeleteQuery adds parameters to the options of the context. They replace the parameters of
// the same name.
func WithDeleteQuery(ctx context.Context, query map[string]string) context.Context {
	options := deleteOptions(ctx)
	options.Query = maps.Clone(options.Query)
	for name, value := range query {
		if options.Query == nil {
			options.Query = url.Values{}
		}
		options.Query.Set(name, value)
	}
	return WithDeleteOptions(ctx, options)
}

// WithDeleteIfMatch adds the ETag that the resource must still have, unless the options of
// the context have one.
func WithDeleteIfMatch(ctx context.Context, etag string) context.Context {
	options := deleteOptions(ctx)
	if options.IfMatch == "" {
		options.IfMatch = etag
	}
	return WithDeleteOptions(ctx, options)
}

// deleteOptions returns the options of the context, zero where it has none.
func deleteOptions(ctx context.Context) DeleteOptions {
	options, _ := ctx.Value(deleteOptionsKey{}).(DeleteOptions)
	return options
}

// header returns the headers of the options, nil where there are none.
func (o DeleteOptions) header() http.Header {
	if o.IfMatch == "" {
		return nil
	}
	return http.Header{"If-Match": {o.IfMatch}}
}
