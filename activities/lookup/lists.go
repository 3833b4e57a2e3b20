package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// List returns the resources of a list, secrets masked, and the age of the reading, like
// [Reader.Read]: it is neither older than the maximum age, nor from before since, nor from
// before the last noted change of a resource in it.
func (r *Reader) List(ctx context.Context, list extensionhost.List, since time.Time) (extensionhost.Listing, Age, error) {
	if _, err := r.client.For(ctx, list.Parent); err != nil {
		return extensionhost.Listing{}, Age{}, err
	}
	if list.APIVersion == "" {
		var err error
		if list.APIVersion, err = r.APIVersion(ctx, list.Item(map[string]any{"name": "any"}).ID); err != nil {
			return extensionhost.Listing{}, Age{}, err
		}
	}
	r.noteRequest(r.lists, list.Key(), since)
	v := variant{apiVersion: list.APIVersion, credential: r.client.ConnectionName(ctx, list.Parent), max: list.Max}
	got := r.cached(ctx, wanted{in: r.lists, key: list.Key(), name: list.Key(), variant: v}, func(ctx context.Context) Reading { return r.getList(ctx, list, v) })
	if got.Err != nil {
		return extensionhost.Listing{}, Age{}, fmt.Errorf("list %s of %s: %w", list.Type, list.Parent, got.Err)
	}
	return got.listing, Age{Text: r.freshness(got), UntilExpiry: r.lists.expiryAt(r.now().Sub(got.at))}, nil
}

// getList makes the requests. It caches lists and refusals.
func (r *Reader) getList(ctx context.Context, list extensionhost.List, v variant) Reading {
	got := Reading{at: r.now(), requested: true}
	got.listing, got.Err = r.pages(ctx, list)
	if arm.IsAbsent(got.Err) {
		got.Err = nil
	}
	if got.Err == nil || isRefusal(got.Err) {
		r.lists.put(list.Key(), v, got)
	}
	return got
}

// pages reads the pages of a list until it ends, or has more than is asked for.
func (r *Reader) pages(ctx context.Context, list extensionhost.List) (extensionhost.Listing, error) {
	var found extensionhost.Listing
	page := ""
	for range extensionhost.MaxListPages {
		var items []json.RawMessage
		var err error
		if items, page, err = r.client.Page(ctx, list.Parent, list.Collection(), list.APIVersion, "", page); err != nil {
			return extensionhost.Listing{}, err
		}
		for _, item := range items {
			if len(found.Resources) == list.Max {
				return extensionhost.Listing{More: true}, nil
			}
			body, err := resource.DecodeBody(item)
			if err != nil {
				return extensionhost.Listing{}, err
			}
			found.Resources = append(found.Resources, list.Item(r.masker.Mask(list.Type, body, nil)))
		}
		if page == "" {
			return found, nil
		}
	}
	return extensionhost.Listing{More: true}, nil
}

// listKey returns the key of the list that has a resource.
func listKey(id resource.ID) string {
	key := id.Key()
	return key[:max(0, strings.LastIndex(key, "/"))]
}
