package harness

import "github.com/armature-io/armature/dev/internal/meter"

// Meter puts a proxy that counts requests between Temporal and what the world starts from
// now on; workers that run keep their connections.
func (w *World) Meter() *meter.Proxy {
	w.T.Helper()
	proxy, err := meter.Start(w.address)
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(proxy.Stop)
	w.Env = append(w.Env, "TEMPORAL_ADDRESS="+proxy.Address())
	return proxy
}
