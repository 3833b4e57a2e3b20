package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// secretsOfOthers completes the secrets that a payload lacks. They are in memory until
// the PUT only.
type secretsOfOthers struct {
	*put
	body  map[string]any
	lists []types.SecretList
	// answers are the answers of the actions that were sent, nil for an action that
	// the service does not have; denied are the actions that the worker may not send.
	answers map[string]map[string]any
	denied  []string
}

// completeSecrets adds to a body the secrets that another tool set, that the manifest does
// not state and that a GET does not show, by the actions of the type that list secrets. It
// returns the values. A secret that exists and cannot be read is left to a PATCH, where
// the type keeps it then, or holds the PUT. The error is one of the transport.
func (p *put) completeSecrets(ctx context.Context, body map[string]any) (values []string, stop *resource.Verdict, err error) {
	if !p.request.Object.Exists() || !p.keepsOthers() {
		return nil, nil, nil
	}
	open := drift.OpenSecrets(body, p.request.Object.Desired, p.request.Object.Observed, p.request.Comparison())
	if len(open) == 0 {
		return nil, nil, nil
	}
	s := &secretsOfOthers{put: p, body: body, answers: map[string]map[string]any{}, lists: types.SecretListsOf(p.in.Desired.ID.Type(), p.in.Desired.APIVersion)}
	var missing []drift.OpenSecret
	for _, secret := range open {
		known, err := s.complete(ctx, secret)
		switch {
		case err != nil:
			return nil, nil, err
		case secret.Value() != "":
			values = append(values, secret.Value())
			p.kept = p.kept.With(secret.Path)
		case secret.Evident, !known:
			missing = append(missing, secret)
		}
	}
	if len(missing) == 0 || s.leaveToPatch(missing) {
		return values, nil, nil
	}
	return values, s.hold(missing), nil
}

// keepsOthers reports whether the PUT keeps what the manifest does not state.
func (p *put) keepsOthers() bool {
	return p.request.KeepOthers || p.request.Merge
}

// complete reads a secret by an action. It returns false where the worker may not send the
// action, so that it is not known whether there is a secret.
func (s *secretsOfOthers) complete(ctx context.Context, secret drift.OpenSecret) (known bool, err error) {
	known = true
	for _, list := range s.lists {
		if secret.Value() != "" || !secret.Matches(list.Secret) {
			continue
		}
		answer, err := s.answer(ctx, list)
		if err != nil {
			return false, err
		}
		known = known && !slices.Contains(s.denied, list.Action)
		secret.Complete(answer, list.Answer)
	}
	return known, nil
}

// answer returns the response of an action, which is sent once.
func (s *secretsOfOthers) answer(ctx context.Context, list types.SecretList) (map[string]any, error) {
	action := list.Action
	if answer, sent := s.answers[action]; sent {
		return answer, nil
	}
	operation, err := s.client.Post(ctx, s.in.Desired.ID, action, list.Version, nil)
	failure, refused := errors.AsType[*arm.Error](err)
	switch {
	case refused && (failure.Status == http.StatusForbidden || failure.Status == http.StatusUnauthorized):
		s.denied = append(s.denied, action)
	case refused && failure.Status < http.StatusInternalServerError && failure.Class != arm.ClassThrottled && failure.Class != arm.ClassConflict:
	case err != nil:
		return nil, err
	}
	answer, err := resource.DecodeBody(operation.Body)
	if err != nil {
		answer = nil // no object: the secret stays unknown
	}
	s.answers[action] = answer
	return answer, nil
}

// leaveToPatch removes from the body the lists with the missing secrets, so that a PATCH
// keeps them. It returns false where the type does not do that, where the manifest states
// such a list, and where something that the manifest stated before is to go: a PATCH
// removes nothing.
func (s *secretsOfOthers) leaveToPatch(missing []drift.OpenSecret) bool {
	desired := s.request.Object.Desired
	if s.registry.Facts(s.in.Desired.ID.Type()).PatchKeepsSecrets == "" || s.removesStated() {
		return false
	}
	for _, secret := range missing {
		if _, stated := listAbove(secret.Path).Get(desired); stated {
			return false
		}
	}
	for _, secret := range missing {
		listAbove(secret.Path).Remove(s.body)
	}
	s.patch = true
	return true
}

// removesStated reports whether the PUT is to remove what the manifest stated before.
func (s *secretsOfOthers) removesStated() bool {
	left := jsontree.Clone(s.request.Object.Observed)
	drift.RemoveFormerValues(left, s.request.Object.Desired, s.request.Comparison())
	return !reflect.DeepEqual(left, s.request.Object.Observed)
}

// listAbove returns the path of the outermost list around a value, else of the value.
func listAbove(path resource.Path) resource.Path {
	at := slices.IndexFunc(path, func(step resource.Step) bool { return step.Name == "" })
	if at < 0 {
		return path
	}
	return path[:at]
}

// hold returns the verdict of a PUT that would remove secrets.
func (s *secretsOfOthers) hold(missing []drift.OpenSecret) *resource.Verdict {
	var paths []string
	for _, secret := range missing[:min(len(missing), resource.MaxDifferences)] {
		paths = append(paths, secret.Path.String())
	}
	why := "Azure does not show them"
	if len(s.denied) > 0 {
		why = fmt.Sprintf("the worker may not read them (403 to %s; it needs %s/%s/action)", s.denied[0], s.in.Desired.ID.Type(), s.denied[0])
	}
	verdict := resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"%s: a PUT would remove secrets that the manifest does not state, and %s: %s; nothing is written. "+
			"State them with $secret, or set put: replace to let them go",
		secretOfOthers, why, strings.Join(paths, ", ")))
	verdict.Class, verdict.Actor, verdict.Drops = resource.RetryVerySlow, "the owner of the manifest", paths
	return &verdict
}

// secretOfOthers begins the message of a PUT that is held for a secret.
const secretOfOthers = "SecretOfOthers"
