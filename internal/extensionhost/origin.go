package extensionhost

import (
	"errors"
	"fmt"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// maxOriginBytes bounds the origin of a verdict, which histories store.
const maxOriginBytes = 200

// originOf returns where the verdict of a link at a point comes from: a rule with its file
// and line, or a Go type with the method of the point, for example
// contoso.Busy.PreReconcileCheck.
func originOf(link any, point string) string {
	if named, ok := link.(extensions.Named); ok {
		return named.ExtensionName()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", link), "*") + "." + point
}

// errorOrigin returns the origin of an error of a chain: the innermost link that returned it,
// "" for an error of Armature's own defaults.
func errorOrigin(err error) string {
	if failed, ok := errors.AsType[*linkError](err); ok {
		return originOf(failed.link, failed.point)
	}
	if panicked, ok := errors.AsType[*panicError](err); ok && panicked.link != nil {
		return originOf(panicked.link, panicked.point)
	}
	return ""
}

// maxSourceRunes bounds the source of a fact in an origin.
const maxSourceRunes = 60

// factOrigin returns where the verdict of a default comes from that a fact decided: the rule
// that states the fact, or "fact" with the source of the fact. It is "" without a source.
func factOrigin(source extensions.Source) string {
	if source == "" || strings.HasPrefix(string(source), "rule ") {
		return string(source)
	}
	return "fact (" + text.Cut(string(source), maxSourceRunes) + ")"
}

// block returns a block with the origin of the fact.
func (h *holding) block(reason resource.Reason, message string) resource.Verdict {
	verdict := resource.Block(reason, message)
	verdict.Origin = factOrigin(h.source)
	return verdict
}

// NamesAll reports whether a verdict names each other resource that it rests on in WaitingFor:
// one of a rule, or of a fact. A link in Go may rest on others too.
func NamesAll(verdict resource.Verdict) bool {
	return strings.HasPrefix(verdict.Origin, "rule ") || strings.HasPrefix(verdict.Origin, "fact")
}

// ofDefault returns the result of the default at the end of a chain: it has no origin but that
// of a fact.
func ofDefault(verdict resource.Verdict) extensionshare.Result {
	result := extensionshare.New(verdict)
	result.Claim(verdict.Origin)
	return result
}

// claim sets the origin of a result that the link made, lets it wait for the owner that the
// link got, and checks it. It returns an error of the link as it is.
func (l *linkCall) claim(result *extensionshare.Result, owner *resource.Object, err error) error {
	if err != nil || !result.Claim(originOf(l.link, l.point)) {
		return err
	}
	verdict := awaitOwner(l.link, result.Verdict(), owner)
	*result = result.With(verdict)
	if l.point == preCheckPoint && verdict.Action == resource.ActionProceed {
		verdict.Message = nameOf(l.link) + " requested a PUT without a comparison"
		if l.didNotCallNext() {
			verdict.Message += ": it did not call next"
		}
		*result = result.With(verdict)
	}
	return checkResult(l.point, verdict)
}
