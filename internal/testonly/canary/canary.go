// Package canary has secrets for tests: kinds of secrets that resources have, and the encodings
// in which services repeat them. It knows no scrubber and no search.
package canary

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode/utf16"
)

// Secret is a kind of secret.
type Secret struct {
	// Text is the value, with its secret parts between « and ».
	Text string
	// Form: the secret parts are found by their form, without the value.
	Form bool
	// Names are the parts that name something and stay if they stand alone.
	Names []string
}

// Value returns the secret as a resource has it.
func (s Secret) Value() string { return strings.NewReplacer("«", "", "»", "").Replace(s.Text) }

// Parts returns the secret parts.
func (s Secret) Parts() (parts []string) {
	for _, rest := range strings.Split(s.Text, "«")[1:] {
		part, _, _ := strings.Cut(rest, "»")
		parts = append(parts, part)
	}
	return parts
}

const storageKey = "kJ3+x/Q9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP6iVoK1tRbMjW+hYzE/nCdS9aUl2OgFxI7pTk3QvJ8rLwB5mZcg=="

// Secrets returns 24 kinds of secrets by their name.
func Secrets() map[string]Secret {
	return map[string]Secret{
		"storage key":        {Text: "«" + storageKey + "»"},
		"storage connection": {Text: "DefaultEndpointsProtocol=https;AccountName=canarystorage01;AccountKey=«" + storageKey + "»;EndpointSuffix=core.windows.net", Form: true, Names: []string{"AccountName=canarystorage01", "core.windows.net"}},
		"bus connection":     {Text: "Endpoint=sb://canary-bus.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=«pQ8/vL2+mX5kR9tW3zB7nC1yJ4hF6gD0sAeUiOxTqVc=»", Form: true, Names: []string{"canary-bus.servicebus.windows.net", "RootManageSharedAccessKey"}},
		"SQL connection":     {Text: "Server=tcp:canary-sql.database.windows.net,1433;Initial Catalog=orders;User ID=canaryadmin;Password=«Tr0ub4dor&3-c4n4ry!x»;Encrypt=True;", Form: true, Names: []string{"canary-sql.database.windows.net", "User ID=canaryadmin"}},
		"redis connection":   {Text: "canary-redis.redis.cache.windows.net:6380,password=«Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8Ba7AzCaI=»,ssl=True,abortConnect=False", Names: []string{"canary-redis.redis.cache.windows.net:6380"}},
		"database address":   {Text: "mongodb://canaryuser:«m0ng0-Pa55word-9x»@canary-cosmos.mongo.cosmos.azure.com:10255/?ssl=true", Form: true, Names: []string{"canary-cosmos.mongo.cosmos.azure.com", "canaryuser"}},
		"SAS address":        {Text: "https://canarystorage01.blob.core.windows.net/backups/2026.zip?sv=2024-11-04&sp=r&se=2026-12-31T00%3A00%3A00Z&sr=b&sig=«Xh3kQ9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP6iVoK1tRb%3D»", Form: true, Names: []string{"canarystorage01.blob.core.windows.net/backups/2026.zip", "sv=2024-11-04"}},
		"SAS":                {Text: "?sv=2024-11-04&ss=b&srt=o&sp=rl&se=2026-12-31&sig=«aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f%3D»", Form: true, Names: []string{"sv=2024-11-04&ss=b"}},
		"callback address":   {Text: "https://prod-01.westeurope.logic.azure.com/workflows/0123456789abcdef0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-10-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=«q7Lw2Zx9-Kd4Rt6Yv8Bn1Mj3Hf5Gs0Pa_CeUiOxTqVk»", Form: true, Names: []string{"prod-01.westeurope.logic.azure.com/workflows/0123456789abcdef0123456789abcdef"}},
		"function address":   {Text: "https://canary-func.azurewebsites.net/api/orders?code=«vN3kQ8zX5bL1tR7yW2mC9hJ4gF6dS0pA3eUiOxTqVkZuAzFuBcDeFg==»", Form: true, Names: []string{"canary-func.azurewebsites.net/api/orders"}},
		"chat webhook":       {Text: "https://hooks.chat.example/services/T0CANARY1/B0CANARY2/«x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G»", Form: true, Names: []string{"hooks.chat.example/services/T0CANARY1"}},
		"webhook of digits":  {Text: "https://contoso.webhook.office.example/webhookb2/11111111-2222-3333-4444-555555555555@66666666-7777-8888-9999-000000000000/IncomingWebhook/«9f8e7d6c5b4a39281706f5e4d3c2b1a0»/11111111-2222-3333-4444-555555555555", Form: true, Names: []string{"11111111-2222-3333-4444-555555555555"}},
		"bot address":        {Text: "https://api.bot.example/«bot7284619305:AAHk9Lq2Wz8Xc4Vb6Nm1Qw3Er5Ty7Ui0Op»/sendMessage", Form: true, Names: []string{"api.bot.example", "sendMessage"}},
		"JWT":                {Text: "«eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjYW5hcnkiLCJpYXQiOjE3MDAwMDAwMDB9.c2lnbmF0dXJlLW9mLXRoZS1jYW5hcnktSldU»", Form: true},
		"private key":        {Text: "-----BEGIN PRIVATE KEY-----«\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7Canary0kJ3x\nQ9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP6iVoK1tRbMjWhYzEnCdS9aUl2OgFxI7p\n»-----END PRIVATE KEY-----\n", Form: true},
		"SSH key":            {Text: "-----BEGIN OPENSSH PRIVATE KEY-----«\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz\nc2gtZWQyNTUxOQAAACCanaryK9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP6iVoK1tRbMj\n»-----END OPENSSH PRIVATE KEY-----", Form: true},
		"certificate":        {Text: "«MIIJqQIBAzCCCW8GCSqGSIb3DQEHAaCCCWAEgglcMIIJWDCCBA8GCSqGSIb3DQEHBqCCBAAwggP8AgEAMIID9QYJKoZIhvcNAQcBCanary+A/B»"},
		"password":           {Text: `«P4ss"w\o<r>d&1/ä+%41'x»`},
		"passphrase":         {Text: "«correct horse battery staple 42»"},
		"short password":     {Text: "«Zq7!x+»"},
		"client secret":      {Text: "«vX~8Q~kJ3xQ9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP»"},
		"GUID":               {Text: "«6f9619ff-8b86-4d01-b42d-00cf4fc964ff»"},
		"digits":             {Text: "«9f8e7d6c5b4a39281706f5e4d3c2b1a0f1e2d3c4b5a69788»"},
		"protected settings": {Text: `{"commandToExecute":"./install.sh --account canarystorage01","storageAccountName":"canarystorage01","storageAccountKey":"«` + storageKey + `»"}`, Names: []string{"canarystorage01"}},
	}
}

// Encodings returns the written forms of a secret by their name. Those of the second map encode
// bytes in groups, so that they have no form for each character.
func Encodings() (characters, groups map[string]func(string) string) {
	each := func(format string) func(string) string {
		return func(text string) string {
			var b strings.Builder
			for _, r := range text {
				if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
					b.WriteRune(r)
				} else {
					fmt.Fprintf(&b, format, r)
				}
			}
			return b.String()
		}
	}
	inJSON := func(text string) string {
		raw, _ := json.Marshal(text)
		return string(raw[1 : len(raw)-1])
	}
	upper := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	lower := func(text string) string {
		encoded := []byte(upper(text))
		for i := 0; i+2 < len(encoded); i++ {
			if encoded[i] == '%' {
				copy(encoded[i:], strings.ToLower(string(encoded[i:i+3])))
			}
		}
		return string(encoded)
	}
	wide := func(text string) string {
		var raw []byte
		for _, unit := range utf16.Encode([]rune(text)) { // little endian, as Windows services encode
			raw = binary.LittleEndian.AppendUint16(raw, unit)
		}
		return base64.StdEncoding.EncodeToString(raw)
	}
	return map[string]func(string) string{
			"plain": func(text string) string { return text }, "JSON": inJSON,
			"JSON with slashes":       func(text string) string { return strings.ReplaceAll(inJSON(text), "/", `\/`) },
			"JSON with code units":    each(`\u%04x`),
			"JSON in JSON":            func(text string) string { return inJSON(inJSON(text)) },
			"percent codes":           upper,
			"small percent codes":     lower,
			"percent codes twice":     func(text string) string { return upper(lower(text)) },
			"form":                    url.QueryEscape,
			"entities":                html.EscapeString,
			"numbers of characters":   each("&#%d;"),
			"percent codes in JSON":   func(text string) string { return inJSON(inJSON(lower(text))) },
			"entities, JSON, percent": func(text string) string { return lower(inJSON(html.EscapeString(text))) },
		}, map[string]func(string) string{
			"base64":               func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
			"base64 of addresses":  func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) },
			"base64 of UTF-16":     wide,
			"base64 in an address": func(text string) string { return lower(base64.StdEncoding.EncodeToString([]byte(text))) },
			"digits":               func(text string) string { return hex.EncodeToString([]byte(text)) },
			"capital digits":       func(text string) string { return strings.ToUpper(hex.EncodeToString([]byte(text))) },
		}
}
