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

// Programs are the paths of the programs and folders that replace the images.
type Programs struct {
	// Worker and Armsim are built as the Dockerfile builds them: static.
	Worker, Armsim string
	// Server is temporal-server, SQLTool temporal-sql-tool, Schema the folder of
	// their SQL files (/etc/temporal/schema in the image of the admin tools).
	Server, SQLTool, Schema string
	// WebUI is ui-server, WebUIConfig the image's config/docker.yaml.
	WebUI, WebUIConfig string
	// Postgres is the folder of the PostgreSQL programs (initdb, postgres).
	Postgres string
}

// imageUser is the USER of the Dockerfile's stages.
const imageUser = 65532

// DockerOnly returns the services that do not run without Docker, with the check
// that replaces them.
func DockerOnly() map[string]string {
	return map[string]string{
		"prometheus": "its configuration is parsed, and the test reads its scrape targets",
		"grafana":    "the metrics of its dashboard are compared with the worker's",
	}
}

// start starts one replica. For a job it waits until the job has succeeded and
// returns no process.
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
		s.resolveNames(p, service)
		p.args = []string{s.programs.Server, "start"}
	case "temporalio/ui":
		err = s.webUI(p, service)
	case "temporalio/admin-tools":
		return nil, s.adminTools(ctx, p, service)
	default:
		err = fmt.Errorf("no program replaces the image %s", service.Image)
	}
	if err != nil {
		return nil, err
	}
	return p, p.start(filepath.Join(s.folder, p.name+".log"))
}

// useAddress replaces 0.0.0.0 by the replica's address, because all replicas share
// one machine. It is the only change to environment and command of Armature's
// images.
func (p *Process) useAddress() {
	for _, values := range [][]string{p.env, p.command, p.check} {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], "0.0.0.0", p.address)
		}
	}
}

// resolveNames prepares a program without its own root folder: it replaces names of
// services by addresses, and paths in mounted folders by their sources.
func (s *Stack) resolveNames(p *Process, service types.ServiceConfig) {
	p.useAddress()
	for _, values := range [][]string{p.env, p.command} {
		for i := range values {
			for name, address := range s.hosts {
				values[i] = hostName(name).ReplaceAllStringFunc(values[i], func(found string) string {
					return strings.Replace(found, name, address, 1)
				})
			}
			for _, secret := range service.Secrets {
				values[i] = strings.ReplaceAll(values[i], "/run/secrets/"+secret.Source, s.project.Secrets[secret.Source].File)
			}
			for _, volume := range service.Volumes {
				if volume.Type == types.VolumeTypeBind {
					values[i] = strings.ReplaceAll(values[i], volume.Target+"/", volume.Source+"/")
				}
			}
		}
	}
}

// hostName returns a pattern of the service's name as a host: NAME=host:port,
// //host:port, POSTGRES_SEEDS=host and --ep host. A user and a password have the
// name of a service too.
func hostName(name string) *regexp.Regexp {
	host := regexp.QuoteMeta(name)
	return regexp.MustCompile(`((?:=|//)` + host + `:\d|_SEEDS=` + host + `$|--ep ` + host + ` )`)
}

// adminTools runs a job of the admin tools' image and waits until it has succeeded.
func (s *Stack) adminTools(ctx context.Context, p *Process, service types.ServiceConfig) error {
	s.resolveNames(p, service)
	script := strings.Join(p.command, "\n")
	if strings.Contains(script, "temporal operator namespace create") {
		// The Temporal CLI is not built; this is the same call by the API.
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
	p.args = append(slices.Clone([]string(service.Entrypoint)), script)
	if err := p.start(filepath.Join(s.folder, p.name+".log")); err != nil {
		return err
	}
	return p.waitSuccess(ctx)
}

// webUI prepares ui-server with the configuration of its image and the address of
// the replica, for which the image has no variable.
func (s *Stack) webUI(p *Process, service types.ServiceConfig) error {
	// Addresses for browsers stay unchanged: no test opens a browser.
	s.resolveNames(p, service)
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
