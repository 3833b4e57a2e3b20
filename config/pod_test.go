package config_test

import (
	"testing"

	"github.com/armature-io/armature/config"
)

func TestListenInAPod(t *testing.T) {
	tests := map[string]struct {
		pod, variable, file string
		stated              bool
		args                []string
		want                string
		reason              string
	}{
		"machine":  {want: "127.0.0.1:9464", reason: "other machines have no business with a worker outside of a cluster"},
		"pod":      {pod: "10.0.0.1", want: ":9464", reason: "probes and Prometheus reach no loopback address of a pod"},
		"variable": {pod: "10.0.0.1", variable: "127.0.0.1:9000", stated: true, want: "127.0.0.1:9000", reason: "a stated address wins"},
		"off":      {pod: "10.0.0.1", stated: true, want: "", reason: "an empty address disables the server in a pod too"},
		"file":     {pod: "10.0.0.1", file: "http: {listen: '127.0.0.1:9001'}", want: "127.0.0.1:9001", reason: "a file states an address as well"},
		"flag":     {pod: "10.0.0.1", args: []string{"--http-listen=127.0.0.1:9002"}, want: "127.0.0.1:9002", reason: "so does a flag"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			clean(t)
			t.Setenv("KUBERNETES_SERVICE_HOST", tc.pod)
			t.Setenv("ARMATURE_MASK_KEY", "none")
			if tc.stated {
				t.Setenv("ARMATURE_HTTP_LISTEN", tc.variable)
			}
			if tc.file != "" {
				t.Setenv(config.FileVariable, write(t, "worker.yaml", tc.file))
			}
			loaded, err := config.Load(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if loaded.HTTP.Listen != tc.want {
				t.Errorf("http.listen is %q, want %q, since %s", loaded.HTTP.Listen, tc.want, tc.reason)
			}
		})
	}
}
