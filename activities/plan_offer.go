package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// The codes of ARM for what a subscription does not offer.
const (
	reasonLocationNotOffered resource.Reason = "LocationNotAvailableForResourceType"
	reasonVersionNotOffered  resource.Reason = "NoRegisteredProviderFound"
)

// maxOfferedNames bounds the locations in a message.
const maxOfferedNames = 8

// checkOffer compares location and api-version of a resource that the plan creates
// with what the provider offers in the subscription. A location that is not offered is
// an error, because ARM refuses it. An api-version that is not listed is a warning: ARM
// accepts some. It changes nothing if the subscription is not registered, the provider
// does not list the type, or the list cannot be read.
func (p *planning) checkOffer(ctx context.Context, result *PlanResourceResult) {
	refused := result.Action == PlanError && result.Reason == reasonVersionNotOffered
	if result.Action != PlanCreate && !refused {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookup.Timeout)
	defer cancel()
	offer, ok, err := p.lookup.Offer(ctx, p.in.Desired.ID)
	if err != nil || !ok {
		return
	}
	if text := versionNotOffered(offer, p.in.Desired); text != "" {
		result.Warnings = append(result.Warnings, text)
	}
	if text := p.locationNotOffered(offer); text != "" {
		if refused {
			result.Warnings = append(result.Warnings, text)
			return
		}
		result.Action, result.Reason, result.Severity, result.Message = PlanError, reasonLocationNotOffered, resource.SeverityError, text
	}
}

// versionNotOffered returns what is wrong with the api-version, or "".
func versionNotOffered(offer arm.Offer, desired resource.Desired) string {
	isStated := func(version string) bool { return strings.EqualFold(version, desired.APIVersion) }
	if len(offer.APIVersions) == 0 || slices.ContainsFunc(offer.APIVersions, isStated) {
		return ""
	}
	return fmt.Sprintf("api-version %s of %s is not offered in subscription %s; the newest one is %s",
		desired.APIVersion, desired.ID.Type(), desired.ID.Subscription(), offer.Newest())
}

// locationNotOffered returns what is wrong with the location, or "".
func (p *planning) locationNotOffered(offer arm.Offer) string {
	body, err := p.bodies.Decode("desired", p.in.Desired.Body)
	location, _ := body["location"].(string)
	if err != nil || location == "" || len(offer.Locations) == 0 {
		return ""
	}
	offered := make([]string, len(offer.Locations))
	for i, name := range offer.Locations {
		offered[i] = resource.NormalLocation(name)
	}
	slices.Sort(offered)
	name := resource.NormalLocation(location)
	if slices.Contains(offered, name) {
		return ""
	}
	text := fmt.Sprintf("location %q is not offered for %s in subscription %s", location, p.in.Desired.ID.Type(), p.in.Desired.ID.Subscription())
	if match := nearest.Match(name, offered); match != "" {
		return text + " (did you mean " + match + "?)"
	}
	if len(offered) > maxOfferedNames {
		return fmt.Sprintf("%s; offered: %s and %d more", text, strings.Join(offered[:maxOfferedNames], ", "), len(offered)-maxOfferedNames)
	}
	return text + "; offered: " + strings.Join(offered, ", ")
}
