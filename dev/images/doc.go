// Package images builds the images of the Dockerfile with buildah, without Docker and without a
// registry: a folder of programs of a release replaces the stage build, and certificates of this
// machine replace those of the stage debian. Its test runs the images.
package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/armature-io/armature/dev/internal/archive"
)

// Names returns the images: each is a target of the Dockerfile.
func Names() []string { return []string{"armsim", "cli", "worker"} }

// Archive is the name of an image's OCI archive in a release.
func Archive(name string) string { return name + ".oci.tar" }

// certificates is Debian's file of the certificates of public authorities.
const certificates = "etc/ssl/certs/ca-certificates.crt"

// Options configures [Build].
type Options struct {
	// Dockerfile is the path of the Dockerfile, Programs the folder of the programs, as make dist
	// builds them.
	Dockerfile, Programs string
	// Folder gets the archives.
	Folder string
	// Tag is the name of the images in their archives.
	Tag string
	// Platforms are OS/ARCH; those without Linux have no image.
	Platforms []string
	// Time is the time of all files and images.
	Time time.Time
}

// Build writes one OCI archive for each image, with an index of its platforms. Equal programs,
// certificates, times and versions of buildah give equal bytes.
func Build(ctx context.Context, o Options) error {
	folder, err := os.MkdirTemp("", "armature-images-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	b := builder{Options: o, store: Store{Folder: filepath.Join(folder, "store")}, folder: folder}
	if err := b.prepare(); err != nil {
		return fmt.Errorf("prepare the stages: %w", err)
	}
	for _, name := range Names() {
		if err := b.build(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// builder builds images in a store of its own.
type builder struct {
	Options
	store  Store
	folder string
}

// prepare creates the folders that replace the context and the stage debian.
func (b builder) prepare() error {
	for _, name := range []string{"context", "debian/srv", "debian/" + filepath.Dir(certificates)} {
		if err := os.MkdirAll(filepath.Join(b.folder, name), 0o755); err != nil {
			return err
		}
	}
	content, err := os.ReadFile("/" + certificates)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.folder, "debian", certificates), content, 0o644)
}

// build builds one image for all platforms, one after another, so that their order is fixed.
func (b builder) build(ctx context.Context, name string) error {
	linux := 0
	for _, platform := range b.Platforms {
		if !strings.HasPrefix(platform, "linux/") {
			continue
		}
		linux++
		if _, err := b.store.Buildah(ctx, "build", "--quiet", "--isolation", "chroot", "--file", b.Dockerfile,
			"--build-context", "build="+b.Programs, "--build-context", "debian="+filepath.Join(b.folder, "debian"),
			"--target", name, "--platform", platform, "--manifest", name,
			"--timestamp", strconv.FormatInt(b.Time.Unix(), 10), filepath.Join(b.folder, "context")); err != nil {
			return err
		}
	}
	if linux == 0 {
		return fmt.Errorf("build %s: no platform of %v is Linux", name, b.Platforms)
	}
	layout := filepath.Join(b.folder, name)
	if _, err := b.store.Buildah(ctx, "manifest", "push", "--quiet", "--all", name, "oci:"+layout+":"+b.Tag); err != nil {
		return err
	}
	files, err := archive.Read(os.DirFS(layout))
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(b.Folder, Archive(name)))
	if err != nil {
		return err
	}
	return errors.Join(archive.Write(file, files, b.Time), file.Close())
}

// Store is a folder of images and containers, apart from those of the machine.
type Store struct{ Folder string }

// Command returns a buildah command on the store. The driver vfs works in containers too. The end
// of the context ends the program that buildah runs.
func (s Store) Command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "buildah", append([]string{
		"--root", filepath.Join(s.Folder, "root"), "--runroot", filepath.Join(s.Folder, "run"), "--storage-driver", "vfs",
	}, arguments...)...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	return command
}

// Buildah runs a buildah command on the store and returns its standard output without spaces at
// the end.
func (s Store) Buildah(ctx context.Context, arguments ...string) (string, error) {
	command := s.Command(ctx, arguments...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("buildah %s: %w\n%s", strings.Join(arguments, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
