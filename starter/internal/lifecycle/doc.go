// Package lifecycle holds one test: every published type that a PUT can create goes
// through its life on the simulator, by the real activities, with a body of the engine
// of armature new and the responses of an unusual provider.
//
//	go test ./starter/internal/lifecycle -v
//
// It takes one type in ten; LIFECYCLE=all takes all, LIFECYCLE=TYPE one. It is separate
// because it joins layers that must not know each other; nothing may import it.
package lifecycle
