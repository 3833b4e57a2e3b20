package resource

import "testing"

func TestCredentials(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Storage":  {reason: "a connection string of a storage account", text: "AccountName=a;AccountKey=abcd==;EndpointSuffix=x", want: "AccountName=a;AccountKey=*;EndpointSuffix=x"},
		"Bus":      {reason: "a connection string of a message bus", text: "Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey=abcd=", want: "Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey=*"},
		"Database": {reason: "spaces around the equals sign are allowed", text: "Server=s; Password = hunter22; x", want: "Server=s; Password = *; x"},
		"URL":      {reason: "a shared access signature", text: "https://a/b?sv=1&sig=abc%3D&se=2", want: "https://a/b?sv=1&sig=*&se=2"},
		"PEM":      {reason: "a private key, also a cut one", text: "-----BEGIN RSA PRIVATE KEY-----\nMIIE", want: "-----BEGIN RSA PRIVATE KEY-----*"},
		"Quoted":   {reason: "a value in quotes, with &", text: `Server=s;Password="Tr0ub&4dor;3";x`, want: `Server=s;Password="*";x`},
		"Form":     {reason: "a parameter ends at the next one", text: "password=hunter22&user=app", want: "password=*&user=app"},
		"User":     {reason: "the password of an address", text: "amqps://app:s3cretpw@bus.example:5671/vhost", want: "amqps://app:*@bus.example:5671/vhost"},
		"Code":     {reason: "the key of a function", text: "https://f.example/api/x?code=Ab3dE5fG7hJ9kL1mN3pQ&clientId=web", want: "https://f.example/api/x?code=*&clientId=web"},
		"Hook":     {reason: "the path of a chat's hook", text: "https://hooks.chat.example/services/T024BE7LD/B2J8K1M4Q/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G", want: "https://hooks.chat.example/services/T024BE7LD/B2J8K1M4Q/*"},
		"Digits":   {reason: "hexadecimal digits in a hook; GUIDs identify something", text: "https://x.example/webhook/6f9619ff-8b86-4d01-b42d-00cf4fc964ff/9f8e7d6c5b4a39281706f5e4d3c2b1a0", want: "https://x.example/webhook/6f9619ff-8b86-4d01-b42d-00cf4fc964ff/*"},
		"JWT":      {reason: "a token", text: "token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl is bad", want: "token * is bad"},
		"Basic":    {reason: "a header with user and password", text: "Authorization: Basic dXNlcjpwYXNz", want: "Authorization: Basic *"},
		"Bearer":   {reason: "a header with a token of no known form", text: "Authorization: Bearer Ab3dE5fG7hJ9kL1mN3pQ", want: "Authorization: Bearer *"},
		"SSH":      {reason: "another private key", text: "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----", want: "-----BEGIN OPENSSH PRIVATE KEY-----*-----END OPENSSH PRIVATE KEY-----"},
		"Two":      {reason: "each of several", text: "AccountKey=abcd;SharedAccessSignature=sv=1&sig=efgh", want: "AccountKey=*;SharedAccessSignature=*&sig=*"},
		"Prose":    {reason: "an ordinary text", text: "the password is wrong; see sig for more", want: "the password is wrong; see sig for more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ReplaceCredentials(tc.text, "*"); got != tc.want {
				t.Errorf("\n%s\n got %q\nwant %q", tc.reason, got, tc.want)
			}
			if got := ContainsCredential(tc.text); got != (tc.want != tc.text) {
				t.Errorf("\n%s\nContainsCredential = %v", tc.reason, got)
			}
		})
	}
}

// TestNoCredentials checks texts that look like credentials and hide nothing.
func TestNoCredentials(t *testing.T) {
	t.Parallel()
	for reason, text := range map[string]string{
		"a resource ID":              "https://management.azure.com/subscriptions/6f9619ff-8b86-4d01-b42d-00cf4fc964ff/resourceGroups/MyGroup2026/providers/Microsoft.ContainerRegistry/registries/r1/webhooks/a1b2c3d4e5f6a7b8c9d0e1f2?api-version=2023-07-01",
		"a name in capitals":         "https://files.example/MyProductionStorage2026Backup/2026-01-01/Archive.zip",
		"a GUID in a query":          "https://x.example/a?tenantToken=6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
		"a code in words":            "https://x.example/error?code=ResourceGroupNotFound",
		"a page":                     "see https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-not-found?code=404",
		"a list of hooks":            "https://x.example/webhooks/production-orders-of-europe-1",
		"a digest":                   "registry.example/app@sha256:9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0",
		"an address of an image":     "https://registry.example/v2/app/manifests/sha256-9f8e7d6c5b4a39281706f5e4d3c2b1a0",
		"a variable of a shell":      "mysql --user=app --password=$DB_PASSWORD",
		"a variable in a sentence":   "write `password=$PASS`, and set PASS",
		"code":                       "options.ClientSecret = true, ok",
		"a variable of a template":   "AccountKey=${key};Password={{ password }};pwd=<your password>;ApiKey={API_KEY}",
		"a variable of Windows":      "set Password=%DB_PASSWORD%",
		"a masked value":             "AccountKey=(masked);sig=(masked) 0123456789abcdef",
		"a reference to a key vault": "Password=@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/s)",
		"a host with a port":         "https://x.example:8443/a@b",
		"a public key":               "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----",
		"a certificate":              "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"words with dots":            "eyJust.three.words",
		"a header without an alg":    "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJhIn0.c2ln",
		"the kind of a sign-in":      "Basic authentication is disabled; Bearer authentication-required-now",
		"the proof of a domain":      "google-site-verification=rXOxyZounnZasA8Z7oaD3c14JdjS9aKSWvsR1EbUSIQ",
		"the proof of App Service":   "asuid=9F8E7D6C5B4A39281706F5E4D3C2B1A09F8E7D6C5B4A39281706F5E4D3C2B1A0",
		"the key of a mail domain":   "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7",
		"the ID of telemetry":        "InstrumentationKey=6f9619ff-8b86-4d01-b42d-00cf4fc964ff;IngestionEndpoint=https://x.example/",
		"an ETag":                    `W/"datetime'2026-01-01T00%3A00%3A00.0000000Z'"`,
		"a public SSH key":           "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G user@host",
	} {
		if got := ReplaceCredentials(text, "*"); got != text {
			t.Errorf("%s: %q became %q", reason, text, got)
		}
	}
}
