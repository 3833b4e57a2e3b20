package armsim

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const tokenLifetime = time.Hour

// isAuthPath reports whether a path belongs to the token endpoint or the discovery
// documents: /{tenant}/oauth2/..., /{tenant}/v2.0/..., /common/discovery/....
func isAuthPath(path string) bool {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if len(segments) < 3 || segments[0] == "subscriptions" || segments[0] == "providers" {
		return false
	}
	return segments[1] == "oauth2" || segments[1] == "v2.0" || segments[1] == "discovery"
}

// serveAuth simulates the identity platform, as far as azidentity's client-secret
// credential uses it.
func (s *Simulator) serveAuth(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	q := &request{r: r, requestID: s.newGUID(), correlationID: s.newGUID(), target: target{kind: kindToken}}
	s.mu.Unlock()
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	tenant, rest := segments[0], strings.ToLower(strings.Join(segments[1:], "/"))
	var resp *response
	switch {
	case rest == "v2.0/.well-known/openid-configuration" && r.Method == http.MethodGet:
		resp = newResponse(http.StatusOK, discovery(q.origin(), tenant))
	case rest == "discovery/instance" && r.Method == http.MethodGet:
		host := r.Host
		resp = newResponse(http.StatusOK, object{
			"tenant_discovery_endpoint": q.origin() + "/common/v2.0/.well-known/openid-configuration", "api-version": "1.1",
			"metadata": []any{object{"preferred_network": host, "preferred_cache": host, "aliases": []any{host}}},
		})
	case rest == "oauth2/v2.0/token" && r.Method == http.MethodPost:
		resp = s.serveToken(q, tenant, w)
	default:
		resp = newResponse(http.StatusNotFound, object{"error": "not_found"})
	}
	s.mu.Lock()
	s.log.addRequest(s.clock.now(), q, resp)
	s.mu.Unlock()
	resp.header.Set("Cache-Control", "no-store, no-cache")
	resp.header.Set("X-Ms-Request-Id", q.requestID)
	resp.write(w, false)
}

func discovery(origin, tenant string) object {
	base := origin + "/" + tenant
	return object{
		"token_endpoint": base + "/oauth2/v2.0/token", "authorization_endpoint": base + "/oauth2/v2.0/authorize",
		"device_authorization_endpoint": base + "/oauth2/v2.0/devicecode", "jwks_uri": base + "/discovery/v2.0/keys",
		"issuer": base + "/v2.0", "tenant_region_scope": nil, "cloud_instance_name": "armsim",
		"token_endpoint_auth_methods_supported": []any{"client_secret_post", "private_key_jwt", "client_secret_basic"},
		"response_types_supported":              []any{"code", "id_token", "code id_token", "id_token token"},
		"scopes_supported":                      []any{"openid", "profile", "email", "offline_access"},
		"id_token_signing_alg_values_supported": []any{"RS256"}, "subject_types_supported": []any{"pairwise"},
	}
}

// serveToken issues a token for the client credentials grant.
func (s *Simulator) serveToken(q *request, tenant string, w http.ResponseWriter) *response {
	r := q.r
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	if err := r.ParseForm(); err != nil || r.PostForm.Get("grant_type") != "client_credentials" {
		return s.tokenError(q, http.StatusBadRequest, "unsupported_grant_type", 70003, "The app requested an unsupported grant type.")
	}
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok && id == "" {
		id, secret = user, password
	}
	switch o := s.options; {
	case o.TenantID != "" && !strings.EqualFold(tenant, o.TenantID):
		return s.tokenError(q, http.StatusBadRequest, "invalid_request", 90002, "Tenant '"+tenant+"' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.")
	case o.ClientID != "" && !strings.EqualFold(id, o.ClientID):
		return s.tokenError(q, http.StatusBadRequest, "unauthorized_client", 700016, "Application with identifier '"+id+"' was not found in the directory '"+tenant+"'.")
	case secret == "" || o.ClientSecret != "" && subtle.ConstantTimeCompare([]byte(secret), []byte(o.ClientSecret)) != 1:
		return s.tokenError(q, http.StatusUnauthorized, "invalid_client", 7000215, "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '"+id+"'.")
	}
	lifetime := int(tokenLifetime.Seconds())
	return newResponse(http.StatusOK, object{
		"token_type": "Bearer", "expires_in": lifetime, "ext_expires_in": lifetime,
		"access_token": s.newToken(id, tenant, r.PostForm.Get("scope")),
	})
}

func (s *Simulator) tokenError(q *request, status int, code string, number int, message string) *response {
	now := s.options.Clock().UTC()
	resp := newResponse(status, object{
		"error": code,
		"error_description": "AADSTS" + strconv.Itoa(number) + ": " + message + " Trace ID: " + q.requestID +
			" Correlation ID: " + q.correlationID + " Timestamp: " + now.Format("2006-01-02 15:04:05Z"),
		"error_codes": []any{number}, "timestamp": now.Format("2006-01-02 15:04:05Z"),
		"trace_id": q.requestID, "correlation_id": q.correlationID,
		"error_uri": q.origin() + "/error?code=" + strconv.Itoa(number),
	})
	resp.code = code
	return resp
}

// newToken returns a signed token without storing it: a restarted simulator with the
// same seed still accepts it, as ARM does not depend on the issuer's process either.
func (s *Simulator) newToken(client, tenant, scope string) string {
	encode := func(o object) string {
		data, _ := json.Marshal(o) // strings and numbers always encode
		return base64.RawURLEncoding.EncodeToString(data)
	}
	now := s.options.Clock()
	token := encode(object{"typ": "JWT", "alg": "HS256"}) + "." + encode(object{
		"aud": audienceOf(scope), "appid": client, "oid": client, "tid": tenant, "idtyp": "app",
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(tokenLifetime).Unix(),
	})
	return token + "." + s.sign(token)
}

// audienceOf returns the audience of a token for a list of scopes: clients add those of
// OpenID Connect.
func audienceOf(scopes string) string {
	for _, scope := range strings.Fields(scopes) {
		if audience, found := strings.CutSuffix(scope, "/.default"); found {
			return audience
		}
	}
	return scopes
}

func (s *Simulator) sign(token string) string {
	mac := hmac.New(sha256.New, []byte("armsim token "+strconv.FormatInt(s.options.Seed, 10)))
	_, _ = mac.Write([]byte(token)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkToken refuses requests without a valid bearer token of this server.
func (s *Simulator) checkToken(q *request) *response {
	if !s.options.RequireAuth {
		return nil
	}
	scheme, token, _ := strings.Cut(q.r.Header.Get("Authorization"), " ")
	var resp *response
	switch expires, audience, ok := s.verifyToken(token); {
	case scheme == "":
		resp = gatewayError(http.StatusUnauthorized, "AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.")
	case !strings.EqualFold(scheme, "Bearer") || !ok:
		resp = gatewayError(http.StatusUnauthorized, "InvalidAuthenticationToken", "The access token is invalid.")
	case s.options.Clock().After(expires):
		resp = gatewayError(http.StatusUnauthorized, "ExpiredAuthenticationToken", "The access token expiry UTC time '%s' is earlier than current UTC time.", expires.UTC().Format(time.RFC3339))
	case s.options.Audience != "" && strings.TrimRight(audience, "/") != strings.TrimRight(s.options.Audience, "/"):
		resp = gatewayError(http.StatusUnauthorized, "InvalidAuthenticationTokenAudience",
			"The access token has been obtained for wrong audience or resource '%s'. It should exactly match with one of the allowed audiences '%s'.", audience, s.options.Audience)
	default:
		return nil
	}
	tenant := cmp.Or(s.options.TenantID, "common")
	resp.header.Set("WWW-Authenticate", `Bearer authorization_uri="`+q.origin()+"/"+tenant+`", error="invalid_token", error_description="The access token is missing, invalid or expired."`)
	return resp
}

// verifyToken checks the signature of a token and returns its expiry and audience.
func (s *Simulator) verifyToken(token string) (expires time.Time, audience string, ok bool) {
	cut := strings.LastIndexByte(token, '.')
	if cut < 0 || !hmac.Equal([]byte(s.sign(token[:cut])), []byte(token[cut+1:])) {
		return time.Time{}, "", false
	}
	_, claims, _ := strings.Cut(token[:cut], ".")
	data, err := base64.RawURLEncoding.DecodeString(claims)
	if err != nil {
		return time.Time{}, "", false
	}
	var c struct {
		Exp int64  `json:"exp"`
		Aud string `json:"aud"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return time.Time{}, "", false
	}
	return time.Unix(c.Exp, 0), c.Aud, true
}
