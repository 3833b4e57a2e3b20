package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/compose-spec/compose-go/v2/types"
)

// contain prepares a program of Armature's images like its container: a root folder
// with the program, its secrets and volumes, which the image's user cannot write
// to, and the names of the other services.
func (s *Stack) contain(p *Process, service types.ServiceConfig, program, name string) error {
	p.useAddress()
	if err := os.RemoveAll(p.folder); err != nil {
		return err
	}
	if err := os.MkdirAll(p.folder, 0o755); err != nil {
		return err
	}
	if err := os.Link(program, filepath.Join(p.folder, name)); err != nil {
		return fmt.Errorf("link program: %w", err)
	}
	hosts := fmt.Sprintf("%s localhost\n", p.address)
	for other, address := range s.hosts {
		hosts += fmt.Sprintf("%s %s\n", address, other)
	}
	if err := writeFile(filepath.Join(p.folder, "etc", "hosts"), []byte(hosts)); err != nil {
		return err
	}
	// The only file of a container's /proc that the programs read.
	proc := filepath.Join(p.folder, "proc", "self")
	if err := os.MkdirAll(proc, 0o755); err != nil {
		return err
	}
	if err := os.Symlink("/"+name, filepath.Join(proc, "exe")); err != nil {
		return fmt.Errorf("link program: %w", err)
	}
	for _, secret := range service.Secrets {
		content, err := os.ReadFile(s.project.Secrets[secret.Source].File)
		if err != nil {
			return fmt.Errorf("read secret %s: %w", secret.Source, err)
		}
		if err := writeFile(filepath.Join(p.folder, "run", "secrets", secret.Source), content); err != nil {
			return err
		}
	}
	for _, volume := range service.Volumes {
		if err := s.mount(p, volume); err != nil {
			return fmt.Errorf("mount %s: %w", volume.Target, err)
		}
	}
	p.args = append([]string{"/" + name}, p.command...)
	p.attributes = &syscall.SysProcAttr{Chroot: p.folder, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	return nil
}

// mount creates a folder for the writer of a volume, and copies the writer's files
// for each reader, which starts after the writer is healthy.
func (s *Stack) mount(p *Process, volume types.ServiceVolumeConfig) error {
	target := filepath.Join(p.folder, volume.Target)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if !volume.ReadOnly {
		return os.Chown(target, imageUser, imageUser)
	}
	for name, service := range s.project.Services {
		for _, other := range service.Volumes {
			if other.Source == volume.Source && !other.ReadOnly {
				return os.CopyFS(target, os.DirFS(filepath.Join(s.folder, replica(name, 0), other.Target)))
			}
		}
	}
	return fmt.Errorf("no service writes to %s", volume.Source)
}
