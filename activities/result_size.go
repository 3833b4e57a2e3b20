package activities

import (
	"fmt"
	"reflect"
	"time"

	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

const (
	// maxResultBytes is the largest encoded result. Temporal refuses a payload of more
	// than 2 MiB (limit.blobSize.error) and a message of more than 4 MiB; an encryption
	// adds some bytes.
	maxResultBytes = 1_900_000
	// minEncodedBytes is the size of the texts in a result below which it is not
	// encoded to be measured: JSON writes one byte as six at most.
	minEncodedBytes = maxResultBytes / 8
)

// encodedSize returns the size of a result as it is sent to Temporal, 0 for a small one.
func encodedSize(encoder converter.DataConverter, result any) (int, error) {
	if result == nil || textBytes(reflect.ValueOf(result), minEncodedBytes) < minEncodedBytes {
		return 0, nil
	}
	encoded, err := encoder.ToPayloads(result)
	if err != nil {
		return 0, fmt.Errorf("encode the result: %w", err)
	}
	return proto.Size(encoded), nil
}

// textBytes returns the bytes of all texts in a value, and of 16 for each other part. It
// ends at a limit.
func textBytes(value reflect.Value, limit int) int {
	const fixed = 16
	total := 0
	switch value.Kind() {
	case reflect.String:
		return value.Len()
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return fixed
		}
		return textBytes(value.Elem(), limit)
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			return fixed
		}
		for i := 0; i < value.NumField() && total < limit; i++ {
			total += textBytes(value.Field(i), limit-total)
		}
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return value.Len()
		}
		for i := 0; i < value.Len() && total < limit; i++ {
			total += textBytes(value.Index(i), limit-total)
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next() && total < limit; {
			total += textBytes(entries.Key(), limit) + textBytes(entries.Value(), limit-total)
		}
	default:
		return fixed
	}
	return total
}

func megabytes(size int) float64 { return float64(size) / 1e6 }
