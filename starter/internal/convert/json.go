package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonReader reads JSON token by token, to know lines and duplicate names.
type jsonReader struct {
	decoder *json.Decoder
	data    []byte
	// counted is the offset up to which lines are counted.
	counted, line int
	values        int
}

// lineError is an error with its line.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

func failAt(line int, format string, args ...any) error {
	return &lineError{line: line, err: fmt.Errorf(format, args...)}
}

// readJSON returns the one value of a JSON document.
func readJSON(data []byte) (*value, error) {
	r := &jsonReader{decoder: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	r.decoder.UseNumber()
	v, err := r.value(0)
	if err == nil {
		if _, more := r.decoder.Token(); !errors.Is(more, io.EOF) {
			err = failAt(r.here(), "there is more than one JSON document; name one file for each")
		}
	}
	if err == nil {
		return v, nil
	}
	if _, ok := errors.AsType[*lineError](err); ok {
		return nil, err
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, failAt(1+bytes.Count(data[:min(len(data), int(syntax.Offset))], []byte("\n")), "it is not JSON: %v; name a file of the format that --from states", syntax)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, failAt(1+bytes.Count(data, []byte("\n")), "the JSON ends too early; get the complete file")
	}
	return nil, failAt(r.here(), "it is not JSON: %v", err)
}

// here returns the line of the token that was read last.
func (r *jsonReader) here() int {
	end := min(int(r.decoder.InputOffset()), len(r.data))
	if end > r.counted {
		r.line += bytes.Count(r.data[r.counted:end], []byte("\n"))
		r.counted = end
	}
	return r.line
}

func (r *jsonReader) value(depth int) (*value, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	line := r.here()
	if r.values++; r.values > maxValues {
		return nil, failAt(line, "it contains more than %d values; split it", maxValues)
	}
	delimiter, isDelimiter := token.(json.Delim)
	if !isDelimiter {
		return scalarOf(line, token), nil
	}
	if depth >= maxDepth {
		return nil, failAt(line, "values are nested deeper than %d levels", maxDepth)
	}
	v := &value{kind: list, line: line}
	if delimiter == '{' {
		v.kind = object
	}
	names := map[string]bool{}
	for r.decoder.More() {
		name := ""
		if v.kind == object {
			token, err := r.decoder.Token()
			if err != nil {
				return nil, err
			}
			name, _ = token.(string)
			if names[name] {
				return nil, failAt(r.here(), "the name %q is there twice in one object; remove one", name)
			}
			names[name] = true
		}
		at := r.here()
		member, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if v.kind == object {
			v.fields = append(v.fields, field{name: name, line: at, value: member})
		} else {
			v.items = append(v.items, member)
		}
	}
	_, err = r.decoder.Token()
	return v, err
}

// isJSON reports whether a text begins like a JSON document.
func isJSON(data []byte) bool {
	trimmed := strings.TrimSpace(string(data[:min(len(data), 512)]))
	return strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
}
