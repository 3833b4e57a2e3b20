package armsim

import (
	"encoding/json"
	"fmt"
	"time"
)

// savedResource is a resource in a snapshot: everything that the server gave it.
type savedResource struct {
	ID               string            `json:"id"`
	Type             string            `json:"type"`
	Name             string            `json:"name"`
	GUID             string            `json:"guid"`
	Body             object            `json:"body"`
	Version          int               `json:"version"`
	Generation       int               `json:"generation"`
	LastPut          object            `json:"lastPut,omitempty"`
	Created          time.Time         `json:"created"`
	ConnectionStates map[string]object `json:"connectionStates,omitempty"`
	Serial           int               `json:"serial,omitempty"`
	Model            string            `json:"model,omitempty"`
	APIVersion       string            `json:"apiVersion,omitempty"`
}

// Snapshot returns all resources for [Simulator.Restore], with what derives from their
// identities: ETags, principal IDs, keys. Operations in progress count as complete,
// because their URLs end with the simulator; what is hidden until its creation ends is
// left out. Deleted resources that could be recovered are not part of it.
func (s *Simulator) Snapshot() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeDueOperations()
	saved := []savedResource{}
	for _, r := range s.below("") {
		if r.hidden {
			continue
		}
		body := cloneObject(r.body)
		if r.op != nil && !r.op.done {
			properties(body)["provisioningState"] = "Succeeded"
		}
		saved = append(saved, savedResource{
			ID: r.id, Type: r.typ, Name: r.name, GUID: r.guid, Body: body, Version: r.version, Generation: r.generation,
			LastPut: r.lastPut, Created: r.created, ConnectionStates: r.connectionStates, Serial: r.serial, Model: r.model, APIVersion: r.apiVersion,
		})
	}
	encoded, err := json.Marshal(saved)
	if err != nil {
		return nil, fmt.Errorf("encode the resources: %w", err)
	}
	return encoded, nil
}

// Restore stores the resources of a snapshot as they were. Resources with other IDs
// stay.
func (s *Simulator) Restore(snapshot []byte) error {
	var saved []savedResource
	if err := json.Unmarshal(snapshot, &saved); err != nil {
		return fmt.Errorf("decode the resources: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range saved {
		if _, ok := parseID(r.ID); !ok || r.GUID == "" {
			return fmt.Errorf("restore %q: this is no resource of a snapshot", r.ID)
		}
		s.resources[key(r.ID)] = &resource{
			id: r.ID, typ: r.Type, name: r.Name, guid: r.GUID, body: r.Body, version: r.Version, generation: r.Generation,
			lastPut: r.LastPut, created: r.Created, connectionStates: r.ConnectionStates, serial: r.Serial, model: r.Model, apiVersion: r.APIVersion,
		}
	}
	for _, r := range saved {
		restored := s.find(r.ID)
		restored.snapshot = s.render(restored)
		if s.graphTarget(restored) == restored {
			restored.indexed = restored.snapshot
		}
	}
	return nil
}
