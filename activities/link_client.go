package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.ARMClient = (*linkClient)(nil)

// linkClient is the ARMClient of the links of one step. What it writes passes writing.MayWrite like
// every write of the step, with the fences for writes of links on top, and goes under the
// ETag that the step has read.
type linkClient struct {
	reader  *stepReader
	desired resource.Desired
	// etags are those that the step has read, by ID key; absentETag for an absent resource.
	etags map[string]string
}

// absentETag marks a resource that the step found absent. ARM sends no such ETag.
const absentETag = "absent"

// Get reads a resource and remembers its ETag for a write of the step.
func (c *linkClient) Get(ctx context.Context, id resource.ID, apiVersion string) (arm.Response, error) {
	response, err := c.reader.client.Get(ctx, id, apiVersion)
	if err == nil || arm.IsAbsent(err) {
		c.noteETag(id, response.ETag, err != nil)
	}
	return response, err
}

// GetWithin reads through the cache of the worker.
func (c *linkClient) GetWithin(ctx context.Context, id resource.ID, apiVersion string, maxAge time.Duration) (arm.Response, error) {
	response, age, err := c.reader.lookup.GetWithin(ctx, id, apiVersion, maxAge, c.reader.readSince)
	if err == nil || arm.IsAbsent(err) {
		c.reader.note(sighting{id: id, freshness: age.Text, untilExpiry: age.UntilExpiry})
	}
	return response, err
}

// Find lists a collection.
func (c *linkClient) Find(ctx context.Context, id resource.ID, collection, apiVersion, filter string, limit int) ([]json.RawMessage, error) {
	return c.reader.client.Find(ctx, id, collection, apiVersion, filter, limit)
}

// Post calls an action.
func (c *linkClient) Post(ctx context.Context, id resource.ID, action, apiVersion string, body []byte) (arm.Operation, error) {
	return c.reader.client.Post(writing.WithLink(ctx, writing.Link{ID: id, Method: http.MethodPost}), id, action, apiVersion, body)
}

// Put writes another resource.
func (c *linkClient) Put(ctx context.Context, id resource.ID, apiVersion string, body []byte, options arm.PutOptions) (arm.Operation, error) {
	return c.write(ctx, writing.Link{ID: id, Method: http.MethodPut}, apiVersion, options, func(ctx context.Context, options arm.PutOptions) (arm.Operation, error) {
		return c.reader.client.Put(ctx, id, apiVersion, body, options)
	})
}

// Patch changes members of another resource.
func (c *linkClient) Patch(ctx context.Context, id resource.ID, apiVersion string, body []byte, options arm.PutOptions) (arm.Operation, error) {
	return c.write(ctx, writing.Link{ID: id, Method: http.MethodPatch}, apiVersion, options, func(ctx context.Context, options arm.PutOptions) (arm.Operation, error) {
		options.IfNoneMatch = ""
		return c.reader.client.Patch(ctx, id, apiVersion, body, options)
	})
}

// Delete deletes another resource.
func (c *linkClient) Delete(ctx context.Context, id resource.ID, apiVersion string) (arm.Operation, error) {
	return c.write(ctx, writing.Link{ID: id, Method: http.MethodDelete}, apiVersion, arm.PutOptions{}, func(ctx context.Context, options arm.PutOptions) (arm.Operation, error) {
		return c.reader.client.Delete(ctx, id, apiVersion, arm.DeleteOptions{IfMatch: options.IfMatch})
	})
}

// write sends a write under the ETag of the link, else of the read of this step, else of one
// that it makes. Where ARM refuses an ETag that the resource still has, the service does not
// honour it, and the write is sent without one, once.
func (c *linkClient) write(
	ctx context.Context, write writing.Link, apiVersion string, options arm.PutOptions,
	send func(context.Context, arm.PutOptions) (arm.Operation, error),
) (arm.Operation, error) {
	ctx = writing.WithLink(ctx, write)
	if err := c.checkStep(ctx, write); err != nil {
		return arm.Operation{}, err
	}
	own := options.IfMatch == "" && options.IfNoneMatch == ""
	if own {
		if err := c.addCondition(ctx, write, apiVersion, &options); err != nil {
			return arm.Operation{}, err
		}
	}
	operation, err := send(ctx, options)
	if own && options.IfMatch != "" && hasStatus(err, http.StatusPreconditionFailed) {
		if now, read := c.reader.client.Get(ctx, write.ID, apiVersion); read == nil && now.ETag == options.IfMatch {
			c.reader.etags.noteIgnoredETags(etagMethod(write.Method), write.ID.Type())
			operation, err = send(ctx, arm.PutOptions{})
		}
	}
	c.forgetETag(write.ID)
	c.reader.lookup.Drop(ctx, write.ID, apiVersion)
	if _, blocked := writing.Blocked(err); !blocked {
		c.record(ctx, write, operation, err)
	}
	return operation, err
}

// checkStep refuses early, with the reason, what MayWrite blocks in steps that write nothing.
func (c *linkClient) checkStep(ctx context.Context, write writing.Link) error {
	if writing.IsAllowed(ctx) {
		return nil
	}
	return extensions.NotYet(fmt.Sprintf("an extension would send a %s of %s; a plan, an import and an owner check send nothing that writes",
		write.Method, write.ID.Short()), extensions.WithReason(resource.ReasonCheckFailed))
}

// addCondition states what the write rests on: the ETag of the last read, or the absence of
// the resource.
func (c *linkClient) addCondition(ctx context.Context, write writing.Link, apiVersion string, options *arm.PutOptions) error {
	etag, known := c.etag(write.ID)
	if !known {
		if _, err := c.Get(ctx, write.ID, apiVersion); err != nil && !arm.IsAbsent(err) {
			return fmt.Errorf("read %s before the %s: %w", write.ID.Short(), write.Method, err)
		}
		etag, _ = c.etag(write.ID)
	}
	switch {
	case c.reader.etags.ignoresETags(etagMethod(write.Method), write.ID.Type()):
	case etag != absentETag:
		options.IfMatch = etag
	case write.Method == http.MethodPut:
		options.IfNoneMatch = "*"
	}
	return nil
}

// etagMethod returns the method under which ignored ETags are remembered: a PATCH counts as a
// PUT.
func etagMethod(method string) string {
	if method == http.MethodDelete {
		return method
	}
	return http.MethodPut
}

func (c *linkClient) etag(id resource.ID) (string, bool) {
	c.reader.mu.Lock()
	defer c.reader.mu.Unlock()
	etag, known := c.etags[id.Key()]
	return etag, known
}

func (c *linkClient) noteETag(id resource.ID, etag string, absent bool) {
	c.reader.mu.Lock()
	defer c.reader.mu.Unlock()
	if absent {
		etag = absentETag
	}
	if c.etags == nil {
		c.etags = map[string]string{}
	}
	c.etags[id.Key()] = etag
}

func (c *linkClient) forgetETag(id resource.ID) {
	c.reader.mu.Lock()
	defer c.reader.mu.Unlock()
	delete(c.etags, id.Key())
}

// record logs a write and keeps it for the verdict, which is in the history. Without an answer
// of ARM it may have been accepted.
func (c *linkClient) record(ctx context.Context, write writing.Link, operation arm.Operation, err error) {
	text := fmt.Sprintf("%s of %s: %d", write.Method, write.ID.Short(), operation.Status)
	failure, answered := errors.AsType[*arm.Error](err)
	switch {
	case answered:
		text = fmt.Sprintf("%s of %s: %s", write.Method, write.ID.Short(), failure.Answer())
	case err != nil:
		text = fmt.Sprintf("%s of %s: no answer, it may have been accepted", write.Method, write.ID.Short())
	}
	if operation.RequestID != "" {
		text += " (ARM request ID " + operation.RequestID + ")"
	}
	c.reader.log.InfoContext(ctx, "an extension wrote another resource", "id", c.desired.ID.String(), "other", write.ID.String(),
		"method", write.Method, "status", operation.Status, "requestID", operation.RequestID, "error", err)
	c.reader.mu.Lock()
	defer c.reader.mu.Unlock()
	c.reader.writes = append(c.reader.writes, text)
}
