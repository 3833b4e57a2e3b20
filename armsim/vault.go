package armsim

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"
)

// vaultType is the type under which the log counts requests to key vaults.
const vaultType = "Microsoft.KeyVault/vaults/secrets"

// Limits of Key Vault: learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates
// and .../secrets/about-secrets.
const (
	maxVaultValue = 25_000
	maxVaultTags  = 15
)

// vaultSecret is a secret with its versions, oldest first.
type vaultSecret struct {
	vault, name string
	versions    []*VaultVersion
	deleted     bool
}

// VaultVersion is one version of a secret.
type VaultVersion struct {
	ID      string            `json:"id"`
	Value   string            `json:"value"`
	Tags    map[string]string `json:"tags,omitempty"`
	Enabled bool              `json:"enabled"`
	Created time.Time         `json:"created"`
}

// vaultOf returns the name of the vault that a request is for, "" for a request to ARM.
func (s *Simulator) vaultOf(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	vault, found := strings.CutSuffix(strings.ToLower(host), "."+strings.ToLower(s.options.VaultSuffix))
	if s.options.VaultSuffix == "" || !found || vault == "" || strings.Contains(vault, ".") {
		return ""
	}
	return vault
}

// serveVault serves the secrets of a key vault: the paths /secrets/NAME[/VERSION] and
// /deletedsecrets/NAME[/recover] of api-version 7.x.
func (s *Simulator) serveVault(w http.ResponseWriter, r *http.Request, vault string) {
	s.mu.Lock()
	q := &request{r: r, requestID: s.newGUID(), correlationID: s.newGUID(), started: s.clock.now(), apiVersion: r.URL.Query().Get("api-version")}
	s.mu.Unlock()
	q.resourceType, q.target.kind = vaultType, kindVault
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	q.target.id = "/vaults/" + vault + "/" + strings.Join(segments, "/")
	body, err := readRequestBody(w, r)
	q.body = body
	var resp *response
	switch {
	case err != nil:
		resp = vaultError(http.StatusBadRequest, "BadParameter", "", "The request is too large.")
	case r.Header.Get("Authorization") == "":
		resp = s.vaultChallenge(q)
	default:
		resp = s.serveWithFaults(q, func() *response {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.dispatchVault(q, vault, segments)
		})
	}
	s.mu.Lock()
	resp.header.Set("X-Ms-Request-Id", q.requestID)
	s.log.addRequest(s.clock.now(), q, resp)
	s.mu.Unlock()
	resp.write(w, false)
}

// vaultChallenge returns the 401 from which a client learns tenant and audience.
func (s *Simulator) vaultChallenge(q *request) *response {
	resp := vaultError(http.StatusUnauthorized, "Unauthorized", "", "AKV10000: Request is missing a Bearer or PoP token.")
	tenant := cmp.Or(s.options.TenantID, "00000000-0000-0000-0000-000000000001")
	resp.header.Set("WWW-Authenticate", `Bearer authorization="`+q.origin()+"/"+tenant+`", resource="https://`+s.options.VaultSuffix+`"`)
	return resp
}

// dispatchVault serves a request with a token.
func (s *Simulator) dispatchVault(q *request, vault string, segments []string) *response {
	if refused := s.checkVaultAccess(q, vault); refused != nil {
		return refused
	}
	if len(segments) < 2 || len(segments) > 3 {
		return vaultError(http.StatusNotFound, "NotFound", "", "The path is not supported.")
	}
	name, rest := segments[1], strings.Join(segments[2:], "/")
	secret := s.vaultSecrets[vaultKey(vault, name)]
	switch strings.ToLower(segments[0]) + " " + q.r.Method {
	case "secrets GET":
		return s.getVaultSecret(vault, secret, name, rest)
	case "secrets PUT":
		return s.setVaultSecret(q, vault, secret, name)
	case "secrets PATCH":
		return s.patchVaultSecret(q, vault, secret, name, rest)
	case "secrets DELETE":
		if secret == nil || secret.deleted {
			return vaultNotFound(name)
		}
		secret.deleted = true
		return s.showVaultSecret(vault, secret, secret.newest())
	case "deletedsecrets POST":
		if secret == nil || !secret.deleted || rest != "recover" {
			return vaultNotFound(name)
		}
		secret.deleted = false
		return s.showVaultSecret(vault, secret, secret.newest())
	case "deletedsecrets DELETE":
		if secret == nil || !secret.deleted {
			return vaultNotFound(name)
		}
		delete(s.vaultSecrets, vaultKey(vault, name))
		return newResponse(http.StatusNoContent, nil)
	}
	return vaultError(http.StatusMethodNotAllowed, "MethodNotAllowed", "", "The method is not allowed here.")
}

// checkVaultAccess refuses a request whose token is not one of this server, or that a denial
// matches.
func (s *Simulator) checkVaultAccess(q *request, vault string) *response {
	if s.options.RequireAuth {
		_, token, _ := strings.Cut(q.r.Header.Get("Authorization"), " ")
		_, audience, ok := s.verifyToken(token)
		if !ok || strings.TrimRight(audience, "/") != "https://"+s.options.VaultSuffix {
			return vaultError(http.StatusUnauthorized, "Unauthorized", "", "AKV10022: Invalid audience.")
		}
	}
	for _, d := range s.vaultDenials {
		if globMatch(d.Vault, vault) && globMatch(d.Method, q.r.Method) {
			return vaultError(http.StatusForbidden, "Forbidden", cmp.Or(d.Code, "ForbiddenByRbac"),
				"Caller is not authorized to perform action on resource.")
		}
	}
	return nil
}

func (s *Simulator) getVaultSecret(vault string, secret *vaultSecret, name, version string) *response {
	if secret == nil || secret.deleted {
		return vaultNotFound(name)
	}
	found := secret.version(version)
	switch {
	case found == nil:
		return vaultNotFound(name)
	case !found.Enabled:
		return vaultError(http.StatusForbidden, "Forbidden", "SecretDisabled", "Operation get is not allowed on a disabled secret.")
	}
	return s.showVaultSecret(vault, secret, found)
}

// vaultInput is the body of a PUT or PATCH.
type vaultInput struct {
	Value      *string           `json:"value"`
	Tags       map[string]string `json:"tags"`
	Attributes struct {
		Enabled *bool `json:"enabled"`
	} `json:"attributes"`
}

func (s *Simulator) setVaultSecret(q *request, vault string, secret *vaultSecret, name string) *response {
	var in vaultInput
	if err := json.Unmarshal(q.body, &in); err != nil || in.Value == nil {
		return vaultError(http.StatusBadRequest, "BadParameter", "", "The parameter value is not valid.")
	}
	s.log.addSecrets([]string{*in.Value})
	switch {
	case secret != nil && secret.deleted:
		return vaultError(http.StatusConflict, "Conflict", "ObjectIsDeletedButRecoverable",
			"Secret "+name+" is currently in a deleted but recoverable state, and its name cannot be reused; in this state, the secret can only be recovered or purged.")
	case len(*in.Value) > maxVaultValue || len(in.Tags) > maxVaultTags:
		return vaultError(http.StatusBadRequest, "BadParameter", "", "The value or the tags are too large.")
	}
	return s.showVaultSecret(vault, s.addVaultVersion(vault, name, *in.Value, in.Tags), nil)
}

// addVaultVersion adds a version to a secret, or creates it.
func (s *Simulator) addVaultVersion(vault, name, value string, tags map[string]string) *vaultSecret {
	key := vaultKey(vault, name)
	secret := s.vaultSecrets[key]
	if secret == nil {
		secret = &vaultSecret{vault: vault, name: name}
		s.vaultSecrets[key] = secret
	}
	var id [16]byte
	s.random.Read(id[:]) // math/rand never fails
	secret.versions = append(secret.versions, &VaultVersion{
		ID: hex.EncodeToString(id[:]), Value: value, Tags: maps.Clone(tags), Enabled: true, Created: s.clock.now().UTC(),
	})
	return secret
}

func (s *Simulator) patchVaultSecret(q *request, vault string, secret *vaultSecret, name, version string) *response {
	var in vaultInput
	if secret == nil || secret.deleted || secret.version(version) == nil {
		return vaultNotFound(name)
	}
	if err := json.Unmarshal(q.body, &in); err != nil || len(in.Tags) > maxVaultTags {
		return vaultError(http.StatusBadRequest, "BadParameter", "", "The body is not valid.")
	}
	found := secret.version(version)
	if in.Tags != nil {
		found.Tags = in.Tags
	}
	if in.Attributes.Enabled != nil {
		found.Enabled = *in.Attributes.Enabled
	}
	resp := s.showVaultSecret(vault, secret, found)
	delete(resp.body.(object), "value")
	return resp
}

// showVaultSecret returns a version of a secret as GET shows it; nil is the newest.
func (s *Simulator) showVaultSecret(vault string, secret *vaultSecret, version *VaultVersion) *response {
	if version == nil {
		version = secret.newest()
	}
	shown := object{
		"value": version.Value, "id": "https://" + vault + "." + s.options.VaultSuffix + "/secrets/" + secret.name + "/" + version.ID,
		"attributes": object{"enabled": version.Enabled, "created": version.Created.Unix(), "updated": version.Created.Unix(), "recoveryLevel": "Recoverable+Purgeable"},
	}
	if len(version.Tags) > 0 {
		shown["tags"] = maps.Clone(version.Tags)
	}
	s.log.addSecrets([]string{version.Value})
	return newResponse(http.StatusOK, shown)
}

func (v *vaultSecret) newest() *VaultVersion { return v.versions[len(v.versions)-1] }

// version returns a version, the newest for "", nil if there is none.
func (v *vaultSecret) version(id string) *VaultVersion {
	if id == "" {
		return v.newest()
	}
	for _, version := range v.versions {
		if strings.EqualFold(version.ID, id) {
			return version
		}
	}
	return nil
}

func vaultKey(vault, name string) string { return strings.ToLower(vault + "/" + name) }

// vaultError returns an error in Key Vault's form:
// learn.microsoft.com/azure/key-vault/general/rest-error-codes.
func vaultError(status int, code, inner, message string) *response {
	failure := object{"code": code, "message": message}
	if inner != "" {
		failure["innererror"] = object{"code": inner}
	}
	resp := newResponse(status, object{"error": failure})
	resp.code, resp.message = cmp.Or(inner, code), message
	return resp
}

func vaultNotFound(name string) *response {
	return vaultError(http.StatusNotFound, "SecretNotFound", "", "A secret with (name/id) "+name+" was not found in this key vault. "+
		"If you recently deleted this secret you may be able to recover it using the correct recovery command.")
}
