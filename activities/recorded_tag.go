package activities

import (
	"context"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// GenerationTag is the tag with the statement of the last PUT.
const GenerationTag = "armature-generation"

// maxTags is the number of tags of a resource
// (learn.microsoft.com/azure/azure-resource-manager/management/tag-resources).
const maxTags = 50

// takeGenerationTag removes the tag of the fence from an observed body, because it is no
// setting of the resource, and returns its value.
func takeGenerationTag(body map[string]any) string {
	name, _, found := jsontree.Member(body, "tags")
	tags, isMap := body[name].(map[string]any)
	if !found || !isMap {
		return ""
	}
	tag, _, found := jsontree.Member(tags, GenerationTag)
	if !found {
		return ""
	}
	value, _ := tags[tag].(string)
	delete(tags, tag)
	if len(tags) == 0 {
		delete(body, name)
	}
	return value
}

// checkTag returns the verdict that stops a PUT whose statement is older than that of the
// tag, which the read of this attempt showed.
func (p *put) checkTag() *resource.Verdict {
	recorded, known := parseStatement(p.recordedTag)
	own := p.statement()
	if !p.options.GenerationTag || !known || !recorded.newer(own) {
		return nil
	}
	return olderThanRecorded(p.in.Desired.ID, recorded, own, "the tag "+GenerationTag)
}

// statement returns what the PUT writes.
func (p *put) statement() Statement {
	return p.in.PassFacts.statement(false)
}

// addGenerationTag adds the tag of the fence to a body. A worker without the fence keeps
// the tag as it is, so that a mixed fleet does not remove it.
func (p *put) addGenerationTag(body map[string]any) {
	value := p.recordedTag
	if p.options.GenerationTag {
		value = p.statement().String()
	}
	if value == "" || !p.takesTags(body) {
		return
	}
	name, _, found := jsontree.Member(body, "tags")
	if !found {
		name = "tags"
	}
	tags, isMap := body[name].(map[string]any)
	if !isMap {
		tags = map[string]any{}
		body[name] = tags
	}
	if _, _, stated := jsontree.Member(tags, GenerationTag); !stated && len(tags) < maxTags {
		tags[GenerationTag] = value
	}
}

// takesTags reports whether a body may have tags: it has some, the resource has, or they
// are published as writable. A PATCH replaces tags as a whole, so one without tags gets
// none.
func (p *put) takesTags(body map[string]any) bool {
	if _, _, found := jsontree.Member(body, "tags"); found || p.patch {
		return found
	}
	if p.recordedTag != "" {
		return true
	}
	if _, _, found := jsontree.Member(p.request.Object.Observed, "tags"); found {
		return true
	}
	shape := types.Lookup(p.in.Desired.ID.Type(), p.in.Desired.APIVersion)
	if shape == nil {
		return false
	}
	found, _ := shape.Find(resource.Path{{Name: "tags"}})
	for _, property := range found {
		if property.Has(types.ReadOnly) {
			return false
		}
	}
	return len(found) > 0
}

// checkTagBeforeDelete reads the resource once more and returns the verdict that stops a
// DELETE whose statement is older than that of the tag.
func (a *Activities) checkTagBeforeDelete(ctx context.Context, in DeleteResourceInput) (*resource.Verdict, error) {
	if !a.options.GenerationTag {
		return nil, nil //nolint:nilnil // neither a verdict nor an error: nothing stops the DELETE
	}
	response, err := a.Client.Get(ctx, in.Desired.ID, in.Desired.APIVersion)
	if err != nil {
		if arm.IsAbsent(err) {
			err = nil
		}
		return nil, err
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return new(resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error())), nil
	}
	recorded, known := parseStatement(takeGenerationTag(body))
	own := in.statement(true)
	if !known || !recorded.newer(own) {
		return nil, nil //nolint:nilnil // as above
	}
	return olderThanRecorded(in.Desired.ID, recorded, own, "the tag "+strings.TrimSpace(GenerationTag)), nil
}
