package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.PostReconciliationChecker = Propagation{}

// AddressResolver looks up the addresses of a name: *net.Resolver is one.
type AddressResolver interface {
	LookupHost(ctx context.Context, host string) (addresses []string, err error)
}

// Propagation makes a set of A records Ready once a resolver returns each of its
// addresses: a zone whose name servers are not delegated to has records that nothing can
// look up.
type Propagation struct{ Resolver AddressResolver }

// PostReconcileCheck fails while the resolver does not return an address of the record.
func (p Propagation) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	name, _ := obj.StringAt("properties.fqdn")
	wanted := addresses(obj)
	if name == "" || len(wanted) == 0 || strings.HasPrefix(name, "*") {
		return next(ctx, obj, owner, resolver, client, log)
	}
	found, err := p.Resolver.LookupHost(ctx, name)
	var failure *net.DNSError
	switch {
	case errors.As(err, &failure) && failure.IsNotFound:
		return notYet("DNS does not have %s yet; is the zone delegated to its name servers?", name)
	case err != nil:
		return notYet("DNS gave no answer for %s: %v", name, err)
	}
	for _, address := range wanted {
		if !slices.Contains(found, address) {
			return notYet("DNS returns %s for %s and not %s yet", strings.Join(found, ", "), name, address)
		}
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func notYet(format string, args ...any) (extensions.PostReconcileCheckResult, error) {
	return extensions.PostReconcileCheckResultFailure(fmt.Sprintf(format, args...), extensions.WithReason("NotPropagated")), nil
}

// addresses returns the IPv4 addresses of a set of A records.
func addresses(obj *resource.Object) []string {
	var found []string
	for i := range 100 {
		address, ok := obj.StringAt(fmt.Sprintf("properties.ARecords[%d].ipv4Address", i))
		if !ok {
			break
		}
		found = append(found, address)
	}
	return found
}
