package page

import (
	"net/http"
	"slices"
)

// policy allows files of this server alone: no inline script or style, no other host, no
// frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// gate refuses requests of other sites and to other names. Headers of proxies, such as
// X-Forwarded-Host, say nothing to it: any client can send them.
type gate struct {
	// scheme and hosts are how browsers name this server, the usual name first.
	scheme string
	hosts  []string
	// opensLinks lets in a browser that follows a link on another site. Without it the link
	// arrives without the cookie and needs a click here.
	opensLinks bool
}

// check refuses a request, or adds the headers of all answers.
func (g gate) check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			// A stricter Referrer-Policy would take the origin from the page's own forms.
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			w.Header().Set(name, value)
		}
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		isForeign := site == "cross-site" || site == "same-site"
		isLink := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		switch {
		case !slices.Contains(g.hosts, r.Host):
			writeMessage(w, http.StatusMisdirectedRequest, message{Title: "Another host", Text: "This page is served at " + g.hosts[0] + " alone."})
		case origin != "" && origin != g.scheme+"://"+r.Host:
			writeMessage(w, http.StatusForbidden, message{Title: "Another site", Text: "Requests of other sites are refused."})
		case isForeign && (!isLink || !g.opensLinks):
			m := message{Title: "This link came from another site", Text: "Requests of other sites are refused."}
			if isLink && !r.URL.Query().Has(tokenParameter) {
				m = message{Title: m.Title, Text: "Open it if you trust it.", Action: "Open the page", Href: r.URL.RequestURI()}
			}
			writeMessage(w, http.StatusForbidden, m)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
