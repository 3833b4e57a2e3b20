package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
)

// Programs are what stands for the images: paths of programs and folders.
type Programs struct {
	// Worker and Armsim are built as the Dockerfile builds them: static.
	Worker, Armsim string
	// Server is temporal-server, SQLTool temporal-sql-tool, Schema the folder
	// of their SQL files, as /etc/temporal/schema of the admin tools' image.
	Server, SQLTool, Schema string
	// WebUI is ui-server, WebUIConfig the image's config/docker.yaml.
	WebUI, WebUIConfig string
	// Postgres is the folder of PostgreSQL's programs (initdb, postgres).
	Postgres string
}

// imageUser is USER of the Dockerfile's stages.
const imageUser = 65532

// NotHere are the services that do not run without Docker, and why.
func NotHere() map[string]string {
	return map[string]string{
		"prometheus": "its configuration is parsed, and what it scrapes is read by the test",
		"grafana":    "its dashboard's metrics are compared with what the worker serves",
	}
}

// start starts one replica. A service that ends by itself has ended well when
// start returns, and there is no process then.
func (s *Stack) start(ctx context.Context, service types.ServiceConfig, i int) (*Process, error) {
	p := &Process{name: replica(service.Name, i), address: s.address(service.Name, i), command: slices.Clone(service.Command)}
	p.folder = filepath.Join(s.folder, p.name)
	p.restart = service.Restart == types.RestartPolicyUnlessStopped
	for name, value := range service.Environment {
		if value != nil {
			p.env = append(p.env, name+"="+*value)
		}
	}
	if service.HealthCheck != nil {
		p.check = slices.Clone(service.HealthCheck.Test)
	}
	s.processes[p.name] = p
	var err error
	switch image, _, _ := strings.Cut(service.Image, ":"); image {
	case "armature/worker":
		err = s.contain(p, service, s.programs.Worker, "worker")
	case "armature/armsim":
		err = s.contain(p, service, s.programs.Armsim, "armsim")
	case "postgres":
		err = s.postgres(p, service)
	case "temporalio/server":
		s.localise(p, service)
		p.args = []string{s.programs.Server, "start"}
	case "temporalio/ui":
		err = s.webUI(p, service)
	case "temporalio/admin-tools":
		return nil, s.adminTools(ctx, p, service)
	default:
		err = fmt.Errorf("nothing stands for the image %s", service.Image)
	}
	if err != nil {
		return nil, err
	}
	return p, p.start(filepath.Join(s.folder, p.name+".log"))
}

// own replaces any address by the replica's own, for it shares a machine with
// the others: the one difference in environment and command of our images.
func (p *Process) own() {
	for _, values := range [][]string{p.env, p.command, p.check} {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], "0.0.0.0", p.address)
		}
	}
}

// localise lets a program outside of a root folder of its own find the others:
// names of services become addresses, paths in mounted folders those of here.
func (s *Stack) localise(p *Process, service types.ServiceConfig) {
	p.own()
	for _, values := range [][]string{p.env, p.command} {
		for i := range values {
			for name, address := range s.hosts {
				values[i] = hostName(name).ReplaceAllStringFunc(values[i], func(found string) string {
					return strings.Replace(found, name, address, 1)
				})
			}
			for _, volume := range service.Volumes {
				if volume.Type == types.VolumeTypeBind {
					values[i] = strings.ReplaceAll(values[i], volume.Target+"/", volume.Source+"/")
				}
			}
		}
	}
}

// hostName finds the name of a service where a host stands: NAME=host:port,
// //host:port, POSTGRES_SEEDS=host and --ep host. (A user and a password are
// called like a service, too.)
func hostName(name string) *regexp.Regexp {
	host := regexp.QuoteMeta(name)
	return regexp.MustCompile(`((?:=|//)` + host + `:\d|_SEEDS=` + host + `$|--ep ` + host + ` )`)
}

// adminTools runs a job of the admin tools' image to its end.
func (s *Stack) adminTools(ctx context.Context, p *Process, service types.ServiceConfig) error {
	s.localise(p, service)
	script := strings.Join(p.command, "\n")
	if strings.Contains(script, "temporal operator namespace create") {
		// The Temporal CLI is not built here: the same call by the API.
		return s.createNamespace(ctx, p, script)
	}
	bin := filepath.Join(p.folder, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	link := filepath.Join(bin, "temporal-sql-tool")
	if err := os.Symlink(s.programs.SQLTool, link); err != nil && !os.IsExist(err) {
		return err
	}
	script = strings.ReplaceAll(script, "/etc/temporal/schema", s.programs.Schema)
	p.env = append(p.env, "PATH="+bin+":/usr/bin:/bin")
	p.args = append(append([]string(nil), service.Entrypoint...), script)
	if err := p.start(filepath.Join(s.folder, p.name+".log")); err != nil {
		return err
	}
	return p.ended(ctx)
}

// webUI gives ui-server the configuration of its image, and the address of the
// replica, for which the image has no variable.
func (s *Stack) webUI(p *Process, service types.ServiceConfig) error {
	// The browser's addresses stay those of the file: nobody browses here.
	s.localise(p, service)
	config, err := os.ReadFile(s.programs.WebUIConfig)
	if err != nil {
		return err
	}
	config = append(config, "\nhost: "+p.address+"\n"...)
	if err := writeFile(filepath.Join(p.folder, "config", "docker.yaml"), config); err != nil {
		return err
	}
	p.dir = p.folder
	p.args = []string{s.programs.WebUI, "--env", "docker", "start"}
	return nil
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
