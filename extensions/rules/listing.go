package rules

import "github.com/armature-io/armature/extensions"

// ListEntries implements extensionhost.LinkLister: the rules in the order of the files.
func (s *Set) ListEntries() []extensions.Entry { return s.current.Load().entries }

// Err returns why the last reload failed, nil if it did not: the rules in force are then
// older than the files, and a worker that starts now would refuse the files.
func (s *Set) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Path returns the file or folder of the rules.
func (s *Set) Path() string { return s.path }
