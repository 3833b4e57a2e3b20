package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// reference matches an image with a tag, and its digest where it has one.
var reference = regexp.MustCompile(`(?m)^(\s*(?:image:|FROM(?:\s+--platform=\S+)?)\s+)([a-z0-9][a-z0-9./:-]*):([A-Za-z0-9_][A-Za-z0-9._-]*)(@sha256:[0-9a-f]{64})?`)

// digestPattern is the form of a digest.
var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// pin returns the text of a file with the digest of each image. It leaves out images that
// the repository builds.
func pin(ctx context.Context, r registry, text string) (string, error) {
	var errs []error
	pinned := reference.ReplaceAllStringFunc(text, func(found string) string {
		part := reference.FindStringSubmatch(found)
		if strings.HasPrefix(part[2], "armature/") {
			return found
		}
		digest, err := r.digest(ctx, part[2], part[3])
		if err != nil {
			errs = append(errs, err)
			return found
		}
		return part[1] + part[2] + ":" + part[3] + "@" + digest
	})
	return pinned, errors.Join(errs...)
}

// registry is a client of container registries (OCI Distribution Specification 1.1).
type registry struct {
	client *http.Client
	scheme string
}

// indexTypes are the media types of an index of platforms. An image for one platform has
// another type, and is refused.
const indexTypes = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"

// digest returns the digest of the index of a tag.
func (r registry) digest(ctx context.Context, image, tag string) (string, error) {
	host, name := split(image)
	address := r.scheme + "://" + host + "/v2/" + name + "/manifests/" + tag
	response, err := r.head(ctx, address, "")
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		var token string
		if token, err = r.token(ctx, response.Header.Get("WWW-Authenticate")); err == nil {
			response, err = r.head(ctx, address, token)
		}
	}
	if err != nil {
		return "", fmt.Errorf("resolve %s:%s: %w", image, tag, err)
	}
	digest := response.Header.Get("Docker-Content-Digest")
	kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	switch {
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("resolve %s:%s: %s returned %s", image, tag, host, response.Status)
	case !strings.Contains(indexTypes, kind) || kind == "":
		return "", fmt.Errorf("resolve %s:%s: it is no index of platforms but %q", image, tag, kind)
	case !digestPattern.MatchString(digest):
		return "", fmt.Errorf("resolve %s:%s: %s returned the digest %q", image, tag, host, digest)
	}
	return digest, nil
}

// split returns the host of the registry and the name in it, as Docker reads an image.
func split(image string) (host, name string) {
	first, rest, found := strings.Cut(image, "/")
	if found && strings.ContainsAny(first, ".:") {
		return first, rest
	}
	if !found {
		image = "library/" + image
	}
	return "registry-1.docker.io", image
}

func (r registry) head(ctx context.Context, address, token string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", indexTypes)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := r.client.Do(request)
	if err == nil {
		_ = response.Body.Close() // a HEAD has none
	}
	return response, err
}

// parameter matches one parameter of a challenge.
var parameter = regexp.MustCompile(`(\w+)="([^"]*)"`)

// token returns an anonymous token for a challenge.
func (r registry) token(ctx context.Context, challenge string) (string, error) {
	query, realm := url.Values{}, ""
	for _, found := range parameter.FindAllStringSubmatch(challenge, -1) {
		if found[1] == "realm" {
			realm = found[2]
		} else {
			query.Set(found[1], found[2])
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, realm+"?"+query.Encode(), nil)
	if err != nil {
		return "", err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct{ Token string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("%s gave no token (%s)", realm, response.Status)
	}
	return answer.Token, nil
}
