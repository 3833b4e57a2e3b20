package azure

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.ErrorClassifier = classifier{}

// classifierRow says what a type knows better about one error.
type classifierRow struct {
	types []string
	// codes are ARM's, "" for any. pattern is matched with the message, ignoring
	// case; "" for any. It stands here only where the code says too little.
	codes   []string
	pattern string
	// class replaces the retry class; "" leaves what the error table says.
	class resource.RetryClass
	// advice is added to the message: what to do next.
	advice string
	// evidence is where the error was seen.
	evidence string
}

// classifier is the rows of one type.
type classifier struct {
	rows []classifierRow
}

// ClassifyError asks the error table first and changes what a row knows better.
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

// matches looks at the outer code and, where that is a general one, at those of
// the details.
func (row classifierRow) matches(err *arm.Error) bool {
	codes := []string{err.Code}
	for _, detail := range err.Details {
		codes = append(codes, detail.Code)
	}
	known := slices.Contains(row.codes, "")
	for _, code := range codes {
		known = known || code != "" && slices.ContainsFunc(row.codes, func(c string) bool { return strings.EqualFold(c, code) })
	}
	if !known || row.pattern == "" {
		return known
	}
	pattern, invalid := regexp.Compile(`(?is)` + row.pattern)
	return invalid == nil && pattern.MatchString(err.Message)
}

// classifiers are the entries of the tables, one for each type.
func classifiers() []extensions.Entry {
	rows := map[string][]classifierRow{}
	var types []string
	for _, row := range append(classifierRows(), softDeletedRows()...) {
		for _, resourceType := range row.types {
			if _, seen := rows[resourceType]; !seen {
				types = append(types, resourceType)
			}
			rows[resourceType] = append(rows[resourceType], row)
		}
	}
	var entries []extensions.Entry
	for _, resourceType := range types {
		entries = append(entries, extensions.Entry{Type: resourceType, Link: classifier{rows: rows[resourceType]}})
	}
	return entries
}
