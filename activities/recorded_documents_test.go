package activities

import (
	"context"
	"strconv"
	"sync"
)

// documents is a container of records. Another worker may write between two requests.
type documents struct {
	mu       sync.Mutex
	stored   map[string][]byte
	versions map[string]int
	err      error
	between  func(d *documents, name string)
	writes   int
}

func newDocuments() *documents {
	return &documents{stored: map[string][]byte{}, versions: map[string]int{}}
}

func (d *documents) put(name string, document []byte) {
	d.stored[name] = document
	d.versions[name]++
}

func (d *documents) Read(_ context.Context, name string) ([]byte, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil || d.stored[name] == nil {
		return nil, "", d.err
	}
	return d.stored[name], strconv.Itoa(d.versions[name]), nil
}

func (d *documents) Write(_ context.Context, name string, document []byte, etag string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.between != nil {
		d.between(d, name)
	}
	if known := d.stored[name] != nil; known != (etag != "") || known && etag != strconv.Itoa(d.versions[name]) {
		return false, nil
	}
	d.writes++
	d.put(name, document)
	return true, nil
}
