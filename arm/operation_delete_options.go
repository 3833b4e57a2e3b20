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

// WithDeleteOptions sets the options of the DELETE below a deleter. They travel in the context,
// because the specification gives the signatures of the chain of deleters.
func WithDeleteOptions(ctx context.Context, options DeleteOptions) context.Context {
	return context.WithValue(ctx, deleteOptionsKey{}, options)
}

// DeleteOptionsOf returns the options that deleters set, zero where none did.
func DeleteOptionsOf(ctx context.Context) DeleteOptions {
	options, _ := ctx.Value(deleteOptionsKey{}).(DeleteOptions)
	return options
}

// AddQuery adds parameters, which replace those of the same name.
func (o *DeleteOptions) AddQuery(query map[string]string) {
	values := url.Values{}
	maps.Copy(values, o.Query)
	for name, value := range query {
		values.Set(name, value)
	}
	o.Query = values
}

// header returns the headers of the options, nil where there are none.
func (o DeleteOptions) header() http.Header {
	if o.IfMatch == "" {
		return nil
	}
	return http.Header{"If-Match": {o.IfMatch}}
}
