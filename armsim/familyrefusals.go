package armsim

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// refuseWith words a refusal with the parent's ID.
func refuseWith(status int, code, format string) func(*Simulator, *request, conflict) *answer {
	return func(_ *Simulator, _ *request, c conflict) *answer { return armError(status, code, format, c.root) }
}

func refuseAnother(_ *Simulator, q *request, c conflict) *answer {
	if c.op == nil {
		return armError(http.StatusConflict, "AnotherOperationInProgress",
			"Another operation on this or dependent resource is in progress. The resource is %s.", c.root)
	}
	return errBusy(q.origin() + c.op.async)
}

// refuseRetryable is Network's other answer: a 429 that is a conflict, with the
// useful code in details.
func refuseRetryable(s *Simulator, _ *request, c conflict) *answer {
	const wait = 11 * time.Second
	word, name := "Put", s.guid()
	if c.op != nil {
		name = c.op.name
		if c.op.verb == "delete" {
			word = "Delete"
		}
	}
	a := armErrorDetail(http.StatusTooManyRequests, "RetryableError", "A retryable error occurred.", "RetryableErrorDueToAnotherOperation",
		fmt.Sprintf("Operation %sOperation (%s) is updating resource %s. The call can be retried in %d seconds.", word, name, c.root, int(wait.Seconds())))
	a.header.Set("X-Ms-Failure-Cause", "service")
	s.clock.setRetryAfter(a.header, wait)
	return a
}

func refuseNotAllowed(s *Simulator, _ *request, c conflict) *answer {
	verb, since := "update", s.clock.now()
	if c.op != nil {
		verb, since = c.op.verb, c.op.start
	}
	return armError(http.StatusConflict, "OperationNotAllowed",
		"Operation is not allowed because there's an in progress %s operation on the managed cluster %s started in %s. Please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details.",
		verb, c.name, since.UTC().Format(time.RFC3339))
}

func refuseConcurrent(_ *Simulator, _ *request, c conflict) *answer {
	return armError(http.StatusConflict, "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
		"Too many Federated Identity Credentials are written concurrently for the managed identity '%s'. Concurrent Federated Identity Credentials writes under the same managed identity are not supported.", strings.ToLower(c.root))
}
