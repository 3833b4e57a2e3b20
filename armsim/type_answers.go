package armsim

import (
	"net/http"
	"strings"
)

// AbsentShape is the form of a provider's 404 for an absent resource.
type AbsentShape string

// The shapes. All but AbsentResource leave open what is absent. They are recorded, or
// reported for public services: codes of the provider's own, numeric and nested codes,
// RFC 7807 without a code, no body, and the provider's own "subscription".
const (
	AbsentResource     AbsentShape = "resource"     // ARM's own ResourceNotFound
	AbsentOwnCode      AbsentShape = "ownCode"      // error.code of the provider, and error.target
	AbsentNumeric      AbsentShape = "numeric"      // error.code is a number
	AbsentNested       AbsentShape = "nested"       // the code is in error.details
	AbsentInner        AbsentShape = "inner"        // the code is in error.innererror
	AbsentTopLevel     AbsentShape = "topLevel"     // code and message without error
	AbsentMessage      AbsentShape = "message"      // Message alone
	AbsentProblem      AbsentShape = "problem"      // RFC 7807 without a code
	AbsentEmpty        AbsentShape = "empty"        // no body
	AbsentText         AbsentShape = "text"         // plain text
	AbsentOData        AbsentShape = "odata"        // odata.error
	AbsentSubscription AbsentShape = "subscription" // SubscriptionNotFound, as Service Bus
)

// AbsentShapes returns all shapes.
func AbsentShapes() []AbsentShape {
	return []AbsentShape{
		AbsentResource, AbsentOwnCode, AbsentNumeric, AbsentNested, AbsentInner, AbsentTopLevel,
		AbsentMessage, AbsentProblem, AbsentEmpty, AbsentText, AbsentOData, AbsentSubscription,
	}
}

// ETagForm is the form of a provider's ETags.
type ETagForm string

// The forms of providers that other people wrote. A form other than ETagQuoted applies to
// types that show an ETag.
const (
	ETagQuoted   ETagForm = "quoted"   // in quotes; each change has a new value
	ETagUnquoted ETagForm = "unquoted" // the same without quotes: radius-project/radius
	ETagNone     ETagForm = "none"     // no ETag: Azure/ARO-HCP
	ETagConstant ETagForm = "constant" // one weak value that never changes: the emulator miniblue
)

// AnswerRule is the form in which the provider of some types responds to reads, writes and
// a preflight.
type AnswerRule struct {
	Type   string      `json:"type"` // glob over the resource type
	Absent AbsentShape `json:"absent,omitempty"`
	// ETag is the form of ETags; "" means ETagQuoted.
	ETag ETagForm `json:"etag,omitempty"`
	// LowerCase shows the IDs and types of resources, and the paths of operations, in lower
	// case, as radius-project/radius does with parts of them.
	LowerCase bool `json:"lowerCase,omitempty"`
	// NoGet makes a GET 405, NoHead a HEAD.
	NoGet  bool `json:"noGet,omitempty"`
	NoHead bool `json:"noHead,omitempty"`
	// ListStatus is the status of the type's collection, for example 405; 0 lists.
	ListStatus int `json:"listStatus,omitempty"`
	// NoPreflight makes validateResources refuse the type: many providers have no preflight.
	NoPreflight bool `json:"noPreflight,omitempty"`
}

// AnswerType adds a rule; the last one that matches counts.
func (s *Simulator) AnswerType(rule AnswerRule) {
	s.locked(func() { s.answers = append(s.answers, rule) })
}

// answerFor returns the rule of a type, the zero rule without one.
func (s *Simulator) answerFor(resourceType string) AnswerRule {
	for i := len(s.answers) - 1; i >= 0; i-- {
		if globMatch(s.answers[i].Type, resourceType) {
			return s.answers[i]
		}
	}
	return AnswerRule{}
}

// showsETag reports whether the responses of a type contain an ETag.
func (s *Simulator) showsETag(resourceType string) bool {
	return s.ruleFor(resourceType).etag && s.answerFor(resourceType).ETag != ETagNone
}

// in returns a quoted ETag in the form.
func (f ETagForm) in(etag string) string {
	switch f {
	case ETagUnquoted:
		return strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)
	case ETagConstant:
		return `W/"0"`
	}
	return etag
}

// refuseRead returns the 405 of a type that has no GET or HEAD, nil where it has one.
func (s *Simulator) refuseRead(q *request) *response {
	rule, row := s.answerFor(q.resourceType), s.ruleFor(q.resourceType)
	byAction := row.isReadByAction(q.target.name())
	switch q.r.Method {
	case http.MethodGet:
		if rule.NoGet || row.noGet || byAction {
			return errNoGet()
		}
	case http.MethodHead:
		if rule.NoHead || byAction {
			return errMethod(q.r.Method)
		}
	}
	return nil
}

// isReadByAction reports whether a resource of the type has no GET and an action returns
// it.
func (r *typeRule) isReadByAction(name string) bool {
	return r.readAction != "" && (len(r.readNames) == 0 || containsFold(r.readNames, name))
}

// readByAction serves the action that returns a resource without GET: an action of the
// resource itself, or one of its owner that ends with the resource's name. Settings
// exist with their owner, empty until they are written. It returns nil for other
// actions.
func (s *Simulator) readByAction(q *request) *response {
	t, action := q.target, strings.ToLower(q.target.action)
	if row := s.ruleFor(t.resourceType()); !row.readOfOwner && row.isReadByAction(t.name()) && action == row.readAction {
		return s.settings(t)
	}
	for _, child := range s.rows {
		parent, segment := splitType(child.typePattern)
		if !child.readOfOwner || !strings.EqualFold(parent, t.resourceType()) {
			continue
		}
		for _, name := range child.readNames {
			if action == child.readAction+name {
				own := t
				own.types, own.names = append(append([]string{}, t.types...), segment), append(append([]string{}, t.names...), name)
				own.id += "/" + segment + "/" + name
				return s.settings(own)
			}
		}
	}
	return nil
}

// settings returns the settings of an owner that exists.
func (s *Simulator) settings(t target) *response {
	if row := s.ruleFor(t.resourceType()); row.withOwner != nil {
		if shown := row.withOwner(s, t); shown != nil {
			return newResponse(http.StatusOK, shown)
		}
	}
	if r := s.find(t.id); s.visible(r) != nil {
		return newResponse(http.StatusOK, s.visible(r))
	}
	return newResponse(http.StatusOK, object{"id": t.id, "name": t.name(), "type": t.resourceType(), "properties": object{}})
}

// splitType returns the parent of a type and the last segment.
func splitType(resourceType string) (parent, segment string) {
	i := strings.LastIndexByte(resourceType, '/')
	return resourceType[:max(i, 0)], resourceType[i+1:]
}

// absentInShape returns the 404 of an absent resource in a shape.
func absentInShape(shape AbsentShape, t target) *response {
	const own = "EntityUnknown"
	message := "There is no such entity."
	var body any
	switch shape {
	case AbsentNumeric:
		body = object{"error": object{"code": 40404, "message": message}}
	case AbsentNested:
		body = object{"error": object{"code": "UserError", "message": message, "details": []any{object{"code": own, "message": message}}}}
	case AbsentInner:
		body = object{"error": object{"code": "BadArgument", "message": message, "innererror": object{"code": own}}}
	case AbsentTopLevel:
		body = object{"code": own, "message": message}
	case AbsentMessage:
		body = object{"Message": message}
	case AbsentProblem:
		body = object{"type": "about:blank", "title": "Not Found", "status": 404, "detail": message}
	case AbsentOData:
		body = object{"odata.error": object{"code": own, "message": object{"lang": "en-US", "value": message}}}
	case AbsentSubscription:
		body = object{"error": object{"code": "SubscriptionNotFound", "message": "Subscription does not exist."}}
	case AbsentEmpty:
		body = nil
	case AbsentText:
		resp := newResponse(http.StatusNotFound, nil)
		resp.raw = []byte("404 not found")
		resp.header.Set("Content-Type", "text/plain")
		return resp
	case AbsentOwnCode:
		body = object{"error": object{"code": own, "message": message, "target": t.id}}
	default:
		return errNotFound(t)
	}
	return newResponse(http.StatusNotFound, body)
}
