package chart

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Machine prepares the containers of rendered workloads as processes of one machine. A
// container keeps its arguments, environment and files; these parts are replaced, because
// the processes share the machine's network and root folder:
//   - the address of a service by that of the process that serves it,
//   - the port that a container listens on by a free one,
//   - the path of a mounted volume by a folder with its files.
type Machine struct {
	// Folder is where the files of volumes are written.
	Folder string
	// Programs are the paths of the programs by the name of their image.
	Programs map[string]string
	// Addresses are host:port by host:port, of what runs outside of the release.
	Addresses map[string]string
	// Secrets are those that the release expects to exist.
	Secrets map[string]map[string]string
	// FreePort returns a port that nothing listens on.
	FreePort func() int

	objects   []Object
	workloads []Workload
	ports     map[string]int
}

// Container is a container as a process.
type Container struct {
	// Name is the workload's.
	Name string
	// Args is the command line, Env the whole environment.
	Args, Env []string
	// Probes are URLs by the kind of probe.
	Probes map[string]string
	// Grace is the time in seconds after which a stopped container is killed.
	Grace int64
}

// Containers returns the containers of the objects.
func (m *Machine) Containers(objects []Object) ([]Container, error) {
	var err error
	if m.workloads, err = Workloads(objects); err != nil {
		return nil, err
	}
	m.objects, m.ports = objects, map[string]int{}
	for _, w := range m.workloads {
		for _, port := range w.Template.Spec.Containers[0].Ports {
			m.ports[w.Name+":"+port.Name] = m.FreePort()
		}
	}
	if err := m.resolveServices(); err != nil {
		return nil, err
	}
	var all []Container
	for _, w := range m.workloads {
		c, err := m.container(w)
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", w, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// resolveServices adds the address of each service: one pod serves it here.
func (m *Machine) resolveServices() error {
	addresses := map[string]string{}
	for from, to := range m.Addresses {
		addresses[from] = to
	}
	for _, o := range m.objects {
		var s corev1.Service
		if o.Kind != "Service" {
			continue
		}
		if err := decode(o, &s); err != nil {
			return err
		}
		for _, w := range m.workloads {
			if !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(w.Template.Labels)) {
				continue
			}
			for _, port := range s.Spec.Ports {
				addresses[net.JoinHostPort(o.Name, strconv.Itoa(int(port.Port)))] = "localhost:" + strconv.Itoa(m.ports[w.Name+":"+port.TargetPort.StrVal])
			}
		}
	}
	m.Addresses = addresses
	return nil
}

func (m *Machine) container(w Workload) (Container, error) {
	spec := w.Template.Spec.Containers[0]
	image, _, _ := strings.Cut(path.Base(spec.Image), ":")
	program := m.Programs[image]
	if program == "" {
		return Container{}, fmt.Errorf("no program is known for the image %s", spec.Image)
	}
	replace := m.replacer(w)
	c := Container{Name: w.Name, Args: []string{program}, Probes: map[string]string{}}
	if w.Template.Spec.TerminationGracePeriodSeconds != nil {
		c.Grace = *w.Template.Spec.TerminationGracePeriodSeconds
	}
	for _, argument := range append(spec.Command, spec.Args...) {
		c.Args = append(c.Args, replace(argument))
	}
	// What a kubelet adds in every pod.
	c.Env = []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "HOSTNAME=" + w.Name}
	for _, variable := range spec.Env {
		value := variable.Value
		if source := variable.ValueFrom; source != nil {
			if source.SecretKeyRef == nil {
				return c, fmt.Errorf("the variable %s has an unknown source", variable.Name)
			}
			content, err := m.secret(source.SecretKeyRef.Name)
			if err != nil {
				return c, err
			}
			value = content[source.SecretKeyRef.Key]
		}
		c.Env = append(c.Env, variable.Name+"="+replace(value))
	}
	for kind, probe := range map[string]*corev1.Probe{"startup": spec.StartupProbe, "liveness": spec.LivenessProbe, "readiness": spec.ReadinessProbe} {
		if probe == nil {
			continue
		}
		scheme := "http"
		if probe.HTTPGet.Scheme == corev1.URISchemeHTTPS {
			scheme = "https"
		}
		c.Probes[kind] = fmt.Sprintf("%s://127.0.0.1:%d%s", scheme, m.ports[w.Name+":"+probe.HTTPGet.Port.StrVal], probe.HTTPGet.Path)
	}
	return c, m.mount(w, replace)
}

// replacer returns a function that replaces addresses, ports and paths in a text.
func (m *Machine) replacer(w Workload) func(string) string {
	spec := w.Template.Spec.Containers[0]
	return func(text string) string {
		for from, to := range m.Addresses {
			text = strings.ReplaceAll(text, from, to)
		}
		for _, port := range spec.Ports {
			own := regexp.MustCompile(fmt.Sprintf(`(^|[= ]):%d\b`, port.ContainerPort))
			text = own.ReplaceAllString(text, "${1}:"+strconv.Itoa(m.ports[w.Name+":"+port.Name]))
		}
		for _, mount := range spec.VolumeMounts {
			text = strings.ReplaceAll(text, mount.MountPath+"/", m.path(w, mount)+"/")
		}
		return text
	}
}

func (m *Machine) path(w Workload, mount corev1.VolumeMount) string {
	return filepath.Join(m.Folder, w.Name, mount.MountPath)
}

// mount writes the files of the volumes.
func (m *Machine) mount(w Workload, replace func(string) string) error {
	for _, mount := range w.Template.Spec.Containers[0].VolumeMounts {
		files, err := m.files(w, mount.Name)
		if err != nil {
			return err
		}
		folder := m.path(w, mount)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("mount %s: %w", mount.Name, err)
		}
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(replace(content)), 0o400); err != nil {
				return fmt.Errorf("mount %s: %w", mount.Name, err)
			}
		}
	}
	return nil
}

// files returns the files of a volume by name.
func (m *Machine) files(w Workload, volume string) (map[string]string, error) {
	for _, v := range w.Template.Spec.Volumes {
		switch {
		case v.Name != volume:
		case v.ConfigMap != nil:
			return m.configMap(v.ConfigMap.Name)
		case v.Secret != nil:
			content, err := m.secret(v.Secret.SecretName)
			if err != nil || len(v.Secret.Items) == 0 {
				return content, err
			}
			files := map[string]string{}
			for _, item := range v.Secret.Items {
				if _, found := content[item.Key]; !found {
					return nil, fmt.Errorf("the Secret %s has no %s", v.Secret.SecretName, item.Key)
				}
				files[item.Path] = content[item.Key]
			}
			return files, nil
		default:
			return nil, fmt.Errorf("the volume %s is of an unknown kind", volume)
		}
	}
	return nil, fmt.Errorf("there is no volume %s", volume)
}

func (m *Machine) configMap(name string) (map[string]string, error) {
	for _, o := range m.objects {
		if o.Kind == "ConfigMap" && o.Name == name {
			var c corev1.ConfigMap
			err := decode(o, &c)
			return c.Data, err
		}
	}
	return nil, fmt.Errorf("there is no ConfigMap %s", name)
}

// secret returns the content of a Secret, rendered or expected.
func (m *Machine) secret(name string) (map[string]string, error) {
	if content := m.Secrets[name]; content != nil {
		return content, nil
	}
	for _, o := range m.objects {
		if o.Kind != "Secret" || o.Name != name {
			continue
		}
		content := map[string]string{}
		data, _ := o.Content["data"].(map[string]any)
		for key, value := range data {
			encoded, _ := value.(string)
			decoded, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				return nil, fmt.Errorf("read Secret %s: %w", name, err)
			}
			content[key] = string(decoded)
		}
		return content, nil
	}
	return nil, fmt.Errorf("there is no Secret %s", name)
}
