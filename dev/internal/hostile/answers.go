package hostile

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Reply answers with a status, headers as name and value in turn, and a body.
func Reply(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// JSON answers 200 with a value.
func JSON(value any) http.HandlerFunc {
	body, err := json.Marshal(value)
	if err != nil {
		return Reply(http.StatusInternalServerError, err.Error())
	}
	return Reply(http.StatusOK, string(body))
}

// Error answers with an error of ARM's form.
func Error(status int, code, message string) http.HandlerFunc {
	body, err := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message}})
	if err != nil {
		return Reply(http.StatusInternalServerError, err.Error())
	}
	return Reply(status, string(body))
}

// Redirect answers with a redirect to a location, which is sent as it is.
func Redirect(status int, location string) http.HandlerFunc {
	return Reply(status, "", "Location", location)
}

// Deep answers with an object of nested members.
func Deep(levels int) http.HandlerFunc {
	return Reply(http.StatusOK, strings.Repeat(`{"a":`, levels)+"1"+strings.Repeat("}", levels))
}

// chunk is the number of bytes that Large and GzipBomb write at a time.
const chunk = 1 << 20

// Large answers with a JSON text of about size bytes.
func Large(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"a":"`))
		data := bytes.Repeat([]byte("x"), chunk)
		for sent := 0; sent < size; sent += chunk {
			if _, err := w.Write(data); err != nil {
				return
			}
		}
		_, _ = w.Write([]byte(`"}`))
	}
}

// GzipBomb answers with a compressed body of about size bytes once it is decompressed.
func GzipBomb(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(compressed([]byte(`{"a":"`)))
		member := compressed(bytes.Repeat([]byte("x"), chunk)) // members add up to one stream
		for sent := 0; sent < size; sent += chunk {
			if _, err := w.Write(member); err != nil {
				return
			}
		}
	}
}

func compressed(data []byte) []byte {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, _ = writer.Write(data) // a buffer returns no errors
	_ = writer.Close()
	return out.Bytes()
}

// Slow answers with a body of a byte each pause, for ever.
func Slow(pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":"`))
		for {
			if flusher, ok := w.(http.Flusher); ok {
				flusher.Flush()
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(pause):
			}
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
		}
	}
}

// Raw answers with bytes on the connection and closes it: what Go's server refuses to
// send, such as a header with a line break.
func Raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		hijacker, ok := w.(http.Hijacker)
		if !ok {
			return
		}
		connection, _, err := hijacker.Hijack()
		if err != nil {
			return
		}
		_, _ = connection.Write([]byte(text))
		_ = connection.Close()
	}
}

// Truncated answers with a JSON text that ends before its announced length.
func Truncated(status int) http.HandlerFunc {
	return Raw(fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"id\":", status))
}
