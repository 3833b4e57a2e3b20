package writing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Statement is what a user stated last about a resource: the spec of a generation, or a
// deletion. It is ordered by time, because another workflow of the resource counts its
// generations from 1.
type Statement struct {
	Generation int64 `json:"generation,omitempty"`
	// At is the server's time of the apply or delete, zero for one of a release that did
	// not record it.
	At      time.Time `json:"at,omitzero"`
	Deleted bool      `json:"deleted,omitempty"`
	// Signed is the time of the newest accepted signature, zero without one.
	Signed time.Time `json:"signed,omitzero"`
}

// statementOf returns a statement with the precision of its records.
func statementOf(generation int64, at time.Time, deleted bool) Statement {
	return Statement{Generation: generation, At: at.UTC().Truncate(time.Millisecond), Deleted: deleted}
}

// newer reports whether a recorded statement is later than the one of a workflow.
func (s Statement) newer(than Statement) bool {
	if !s.At.Equal(than.At) {
		return s.At.After(than.At)
	}
	return s.Generation > than.Generation
}

// equal reports whether two statements are the same.
func (s Statement) equal(other Statement) bool {
	return s.Generation == other.Generation && s.At.Equal(other.At) && s.Deleted == other.Deleted && s.Signed.Equal(other.Signed)
}

// olderThanRecorded is the verdict of a write whose spec is older than what is recorded.
func olderThanRecorded(id resource.ID, recorded, own Statement) *resource.Verdict {
	what := fmt.Sprintf("generation %d", recorded.Generation)
	if recorded.Deleted {
		what = "a deletion"
	}
	if !recorded.At.IsZero() {
		what += " of " + text.Time(recorded.At)
	}
	known := fmt.Sprintf("generation %d", own.Generation)
	if !own.At.IsZero() {
		known += " of " + text.Time(own.At)
	}
	verdict := resource.Block(resource.ReasonOlderThanRecorded, fmt.Sprintf(
		"the generation fence records %s of %s, and Temporal knows only %s: its database seems to be older, so nothing is written. "+
			"armature apply of the manifest that is meant makes it the newest, also if it is this one; armature forget %s leaves the resource as it is",
		what, id.Short(), known, id.Short()))
	return &verdict
}

// Records keeps one small document for each resource outside of Temporal.
type Records interface {
	// Read returns a document with its ETag; both are empty where there is none.
	Read(ctx context.Context, name string) (document []byte, etag string, err error)
	// Write writes a document if it still has the ETag, or does not exist where the
	// ETag is "", and reports false otherwise.
	Write(ctx context.Context, name string, document []byte, etag string) (bool, error)
}

// record is the document of a resource.
type record struct {
	ID string `json:"id"`
	Statement
}

// recordName returns the name of a resource's document: the subscription, and a hash of
// the ID, whose characters and length names of documents do not allow.
func recordName(id resource.ID) string {
	folder := strings.ToLower(id.Subscription())
	if folder == "" {
		folder = "tenant"
	}
	sum := sha256.Sum256([]byte(strings.ToLower(id.String())))
	return folder + "/" + hex.EncodeToString(sum[:16]) + ".json"
}

// maxRecordTries bounds the tries to write a record that another worker writes too.
const maxRecordTries = 3

// checkRecords returns the verdict that stops a write whose statement is older than the
// recorded one. It records the statement before the write leaves: a write that fails is
// repeated by the same statement or a newer one.
func (s *Step) checkRecords(ctx context.Context, write arm.Write) *resource.Verdict {
	if s.Records == nil || s.NoResource {
		return nil
	}
	own := statementOf(s.Generation, s.StatedAt, s.Deletion != nil || s.link == nil && write.Call == arm.CallDelete)
	own.Signed = s.signedAt()
	name, id := recordName(s.Desired.ID), s.Desired.ID
	for range maxRecordTries {
		document, etag, err := s.Records.Read(ctx, name)
		if err != nil {
			return unreadableRecord(id, err)
		}
		var known record
		if document != nil {
			if err := json.Unmarshal(document, &known); err != nil || !strings.EqualFold(known.ID, id.String()) {
				return unreadableRecord(id, fmt.Errorf("%s has another content", name))
			}
		}
		if s.demandsSignatures() && known.Signed.After(own.Signed) {
			return s.olderThanSigned(known.Signed, own.Signed)
		}
		if own.Signed.Before(known.Signed) {
			own.Signed = known.Signed
		}
		switch {
		case document != nil && known.newer(own):
			return olderThanRecorded(id, known.Statement, own)
		case document != nil && known.equal(own):
			return nil
		}
		next, err := json.Marshal(record{ID: id.String(), Statement: own})
		if err != nil {
			return unreadableRecord(id, err)
		}
		written, err := s.Records.Write(ctx, name, next, etag)
		switch {
		case err != nil:
			return unreadableRecord(id, err)
		case written:
			return nil
		}
	}
	return unreadableRecord(id, fmt.Errorf("%s was changed %d times meanwhile", name, maxRecordTries))
}

// olderThanSigned is the verdict of a write that was signed before what is recorded. The times
// of statements are Temporal's, and change with its database; that of a signature is the
// signer's.
func (s *Step) olderThanSigned(recorded, own time.Time) *resource.Verdict {
	signed := "what Temporal knows is not signed"
	if !own.IsZero() {
		signed = "what Temporal knows was signed at " + own.Format(time.RFC3339)
	}
	return new(resource.Block(resource.ReasonSignatureOutdated, fmt.Sprintf(
		"the generation fence records a statement about %s that was signed at %s, and %s, so nothing is written; %s",
		s.Desired.ID.Short(), recorded.Format(time.RFC3339), signed, s.signAgain())))
}

// unreadableRecord is the verdict of a write whose record is unknown.
func unreadableRecord(id resource.ID, err error) *resource.Verdict {
	return new(resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(
		"cannot use the record of %s in the generation fence, so nothing is written: %v", id.Short(), err)))
}
