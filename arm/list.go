package arm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/armature-io/armature/resource"
)

// maxPages bounds a list with empty pages or a loop of pages.
const maxPages = 500

// List reads the items of a collection below a resource or container:
// "resources" of a group, "databases" of a cluster. It follows nextLink on the
// endpoint's host only, and returns at most limit items: pass one more than needed
// to detect that there are more. Each item is one JSON object.
func (c *Client) List(ctx context.Context, id resource.ID, collection, apiVersion string, limit int) ([]json.RawMessage, error) {
	return c.Find(ctx, id, collection, apiVersion, "", limit)
}

// Find lists with ARM's $filter; "" filters nothing.
func (c *Client) Find(ctx context.Context, id resource.ID, collection, apiVersion, filter string, limit int) ([]json.RawMessage, error) {
	items, err := c.find(ctx, id, collection, apiVersion, filter, limit)
	if err != nil {
		return nil, fmt.Errorf("list %s of %s: %w", collection, id, err)
	}
	return items, nil
}

func (c *Client) find(ctx context.Context, id resource.ID, collection, apiVersion, filter string, limit int) ([]json.RawMessage, error) {
	c, target, err := c.listURL(ctx, id, collection, apiVersion, filter)
	if err != nil {
		return nil, err
	}
	return c.pages(ctx, id.Type(), target, limit)
}

// listURL returns the first URL of a list, and the client of its connection.
func (c *Client) listURL(ctx context.Context, id resource.ID, collection, apiVersion, filter string) (*Client, string, error) {
	c, err := c.For(ctx, id)
	if err != nil {
		return nil, "", err
	}
	target, err := c.url(id, collection, apiVersion)
	if err == nil && filter != "" {
		target += "&%24filter=" + url.PathEscape(filter)
	}
	return c, target, err
}

// maxGroups bounds the resource groups of a subscription: Azure's limit is 980.
const maxGroups = 2000

// GroupCreatedAt returns the time at which a resource group was created, "" if the list of
// groups lacks it. No GET of a group shows it, and the reference of the list does not mention
// this $expand; tools that remove old groups rely on it.
func (c *Client) GroupCreatedAt(ctx context.Context, group resource.ID) (string, error) {
	subscription := group.Owner()
	c, target, err := c.listURL(ctx, subscription, "resourcegroups", resource.ResourceGroupAPIVersion, "")
	if err != nil {
		return "", fmt.Errorf("find the creation of %s: %w", group, err)
	}
	items, err := c.pages(ctx, subscription.Type(), target+"&%24expand=createdTime", maxGroups)
	if err != nil {
		return "", fmt.Errorf("find the creation of %s: list the resource groups: %w", group, err)
	}
	for _, item := range items {
		listed := decodeView[struct {
			Name        string `json:"name"`
			CreatedTime string `json:"createdTime"`
		}](item)
		if strings.EqualFold(listed.Name, group.Name()) {
			return listed.CreatedTime, nil
		}
	}
	return "", nil
}

// Page reads one page of a collection; "" is the first one. next is "" on the last one,
// else what the next call needs: a link of ARM, which is followed only to the path of the
// same collection on the same host.
func (c *Client) Page(ctx context.Context, id resource.ID, collection, apiVersion, filter, page string) (items []json.RawMessage, next string, err error) {
	items, next, err = c.onePage(ctx, id, collection, apiVersion, filter, page)
	if err != nil {
		return nil, "", fmt.Errorf("list %s of %s: %w", collection, id, err)
	}
	return items, next, nil
}

func (c *Client) onePage(ctx context.Context, id resource.ID, collection, apiVersion, filter, page string) ([]json.RawMessage, string, error) {
	c, first, err := c.listURL(ctx, id, collection, apiVersion, filter)
	if err != nil {
		return nil, "", err
	}
	target := first
	if page != "" {
		if target, err = nextPage(first, page); err != nil {
			return nil, "", err
		}
		if !samePath(first, target) {
			return nil, "", errors.New("follow nextLink: it leads to another list")
		}
	}
	items, next, err := c.page(ctx, id.Type(), target)
	if err != nil || next == "" {
		return items, "", err
	}
	next, err = nextPage(target, next)
	return items, next, err
}

// samePath reports whether two URLs have the same path, ignoring case.
func samePath(a, b string) bool {
	first, err := url.Parse(a)
	if err != nil {
		return false
	}
	second, err := url.Parse(b)
	return err == nil && strings.EqualFold(strings.TrimRight(first.Path, "/"), strings.TrimRight(second.Path, "/"))
}

// pages reads the items of a list from its first URL on.
func (c *Client) pages(ctx context.Context, typ, target string, limit int) ([]json.RawMessage, error) {
	var items []json.RawMessage
	for range maxPages {
		page, next, err := c.page(ctx, typ, target)
		if err != nil {
			return nil, err
		}
		items = append(items, page...)
		if next == "" || len(items) >= limit {
			return items[:min(len(items), limit)], nil
		}
		if target, err = nextPage(target, next); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("it has more than %d pages", maxPages)
}

// page reads one page; next is "" on the last one.
func (c *Client) page(ctx context.Context, typ, target string) (items []json.RawMessage, next string, err error) {
	response, err := c.read(ctx, CallList, typ, target)
	if err != nil {
		return nil, "", err
	}
	page := decodeView[struct {
		Value    []json.RawMessage `json:"value"`
		NextLink string            `json:"nextLink"`
	}](response.Body)
	if page.Value == nil {
		e := &Error{Status: response.Status, Code: CodeInvalidAnswer, RequestID: response.RequestID}
		e.Message = "unusable response: it is not a list"
		e.classify(http.MethodGet)
		return nil, "", e
	}
	return page.Value, page.NextLink, nil
}

// nextPage returns the URL of the next page; guardedTransport refuses one on another
// host. A list stays in its subscription: the answer of one must not choose another for the
// credential. Errors omit the link, because its query may be signed.
func nextPage(current, next string) (string, error) {
	at, err := url.Parse(current)
	if err != nil {
		return "", errors.New("follow nextLink: the page has no URL")
	}
	link, err := at.Parse(next)
	if err != nil {
		return "", errors.New("follow nextLink: it is no URL")
	}
	if next := subscriptionOf(link); next != "" && next != subscriptionOf(at) {
		return "", errors.New("follow nextLink: it leads to another subscription")
	}
	return link.String(), nil
}
