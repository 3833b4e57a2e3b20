package azure

import (
	"context"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.ErrorClassifier = classifier{}

// classifierRow changes the class or the advice of one error for some types.
type classifierRow struct {
	types []string
	// codes are ARM's, "" for any.
	codes []string
	// pattern is matched with the message, ignoring case; nil for any. A row has one
	// only where the code is too general.
	pattern *regexp.Regexp
	// class replaces the retry class; "" keeps the class of the error table.
	class resource.RetryClass
	// advice is added to the message: what to do next.
	advice string
	// evidence is where the error was seen.
	evidence string
}

// classifier has the rows of one type.
type classifier struct {
	rows []classifierRow
}

// ClassifyError calls next, which reads the error table, and applies the first
// row that matches.
func (c classifier) ClassifyError(
	ctx context.Context,
	err *arm.Error,
	apiVersion string,
	log *slog.Logger,
	next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	details, failed := next(ctx, err, apiVersion, log)
	if failed != nil {
		return details, failed
	}
	for _, row := range c.rows {
		if !row.matches(err) {
			continue
		}
		if row.class != "" {
			details.Class = row.class
		}
		if row.advice != "" {
			details.Message = strings.TrimRight(details.Message, ". ") + ". " + row.advice
		}
		return details, nil
	}
	return details, nil
}

// matches reports whether the row applies to an error: by its outer code or, where
// that is a general one, by a code of its details.
func (row classifierRow) matches(err *arm.Error) bool {
	known := slices.Contains(row.codes, "") || err.Code != "" && equalFoldAny(err.Code, row.codes...)
	for _, detail := range err.Details {
		known = known || detail.Code != "" && equalFoldAny(detail.Code, row.codes...)
	}
	return known && (row.pattern == nil || row.pattern.MatchString(err.Message))
}

// classifiers returns the rows of the tables as one entry for each type.
func classifiers() []extensions.Entry {
	rows := map[string][]classifierRow{}
	for _, row := range append(classifierRows(), softDeletedRows()...) {
		for _, resourceType := range row.types {
			rows[resourceType] = append(rows[resourceType], row)
		}
	}
	var entries []extensions.Entry
	for _, resourceType := range slices.Sorted(maps.Keys(rows)) {
		entries = append(entries, extensions.Entry{Type: resourceType, Link: classifier{rows: rows[resourceType]}})
	}
	return entries
}
