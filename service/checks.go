package service

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/armature-io/armature/workflows"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// buildText returns the text that stands for the Go code of a program in the fingerprint of its
// checks: its version, its modules, and the revision of its source as far as Go recorded it.
// The file of the program would differ between platforms.
func buildText(version string, read func() (*debug.BuildInfo, bool)) string {
	parts := []string{version}
	info, ok := read()
	if !ok {
		return version
	}
	for _, module := range slices.Concat([]*debug.Module{&info.Main}, info.Deps) {
		if module.Replace != nil && module.Replace.Version != "" {
			module = module.Replace // one without a version is a folder of this machine
		}
		parts = append(parts, module.Path+"@"+module.Version)
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" || setting.Key == "vcs.modified" {
			parts = append(parts, setting.Key+"="+setting.Value)
		}
	}
	return strings.Join(parts, "\n")
}

// identityOf returns an interceptor of the requests to Temporal that adds the fingerprint of
// the checks in force to the identity of this process. The SDK reads an identity once, and a
// reload of the rules changes the checks.
func identityOf(process string, checks func() string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, next grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if message, ok := request.(proto.Message); ok {
			setIdentity(message.ProtoReflect(), process, checks)
		}
		return next(ctx, method, request, reply, connection, options...)
	}
}

// setIdentity sets the identity in a request of a process; a repeated request has one with
// checks already.
func setIdentity(request protoreflect.Message, process string, checks func() string) {
	field := request.Descriptor().Fields().ByName("identity")
	if field == nil || field.Kind() != protoreflect.StringKind || field.IsList() {
		return
	}
	if from, _ := workflows.SplitIdentity(request.Get(field).String()); from == process {
		request.Set(field, protoreflect.ValueOfString(workflows.WorkerIdentity(process, checks())))
	}
}
