package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Repeated is how the passes before ended, so that retries of what will not be lifted
// by itself slow down. The zero value is the first pass.
type Repeated struct {
	Reason resource.Reason `json:"reason,omitempty"`
	// RefusalDigest has the meaning of the field in resource.Verdict.
	RefusalDigest string `json:"refusalDigest,omitempty"`
	// Times is the number of passes in a row that ended with both.
	Times int `json:"times,omitempty"`
}

// maxFastRefusals is how often the same refusal is retried at the pace of its class:
// the slow class has reached its longest wait by then.
const maxFastRefusals = 10

// slowDown makes the retries of the same refusal very slow, because waiting has not
// changed it.
func (r Repeated) slowDown(verdict resource.Verdict, failure *arm.Error) resource.Verdict {
	same := r.Reason == verdict.Reason && (failure.Denial || verdict.RefusalDigest != "" && r.RefusalDigest == verdict.RefusalDigest)
	if !same || r.Times < maxFastRefusals || verdict.Class != resource.RetryFast && verdict.Class != resource.RetrySlow {
		return verdict
	}
	verdict.Class = resource.RetryVerySlow
	verdict.Message += fmt.Sprintf(" (%d times in a row: retries are less frequent now; armature reconcile retries at once)", r.Times+1)
	return verdict
}

// digitsAndIDs matches what varies between two responses with the same content: numbers
// and hexadecimal IDs.
var digitsAndIDs = regexp.MustCompile(`(?i)[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|[0-9]+`)

// refusalDigest returns the digest of an error for resource.Verdict.RefusalDigest. Throttling,
// an operation in progress and, for reads, a service that fails end by themselves: their
// digest is "". It depends on none of the values: histories have it, and a guess of a short
// secret could be compared with it.
func refusalDigest(failure *arm.Error, values []string, write bool) string {
	if failure.Class == arm.ClassThrottled || failure.NamesOperation() || failure.Transient() && !write {
		return ""
	}
	text := strings.Join(failure.Codes(), "/") + "\n" + digitsAndIDs.ReplaceAllString(secrets.Scrub(failure.Message, values), "#")
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// lastAnswer keeps ARM's last error in the heartbeats of an activity: a request
// that hangs must not hide the error that ARM returned before it.
type lastAnswer struct {
	// Answer is the verdict of the last error that ARM returned.
	Answer *resource.Verdict `json:"answer,omitempty"`
}

// failedRequest is a request that failed.
type failedRequest struct {
	id         resource.ID
	apiVersion string
	repeated   Repeated
	// values are the secrets that the verdict must not show, refs the references to more:
	// ARM may repeat what was sent in any later response.
	values, refs []string
	// write is set for a request that changes something.
	write bool
}

// failureVerdict returns the verdict of a failed request. Where the error is no
// response of ARM, it adds ARM's last one.
func (m *requestMaker) failureVerdict(ctx context.Context, request failedRequest, err error, last *lastAnswer) resource.Verdict {
	verdict := m.errorVerdict(ctx, request.id, request.apiVersion, err)
	read, _ := m.secretValues(ctx, request.refs)
	values := slices.Concat(request.values, read)
	verdict.Message = secrets.Scrub(verdict.Message, values)
	if reason := string(verdict.Reason); secrets.Scrub(reason, values) != reason {
		verdict.Reason = resource.ReasonUnknownError
	}
	if failure, ok := errors.AsType[*arm.Error](err); ok {
		verdict.RefusalDigest = refusalDigest(failure, values, request.write)
		verdict = request.repeated.slowDown(verdict, failure)
		last.Answer = &verdict
	} else if last.Answer != nil {
		verdict.Message += "; before that it answered: " + last.Answer.Message
		verdict.Reason, verdict.RequestID = last.Answer.Reason, last.Answer.RequestID
	}
	return verdict
}
