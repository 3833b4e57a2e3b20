package resource

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithSecrets checks that what is masked comes from the body, whatever the client sent.
//
//guard:masks-come-from-the-body
func TestWithSecrets(t *testing.T) {
	t.Parallel()
	type lists struct{ Secret, SecretRefs, Plain []string }
	cases := map[string]struct {
		reason string
		body   string
		want   lists
	}{
		"no secret":           {"an ordinary body has none", `{"location":"x","properties":{"size":1}}`, lists{}},
		"reference":           {"a $secret is masked at its path and by its value", `{"properties":{"note":{"$secret":"env:A"}}}`, lists{Secret: []string{"properties.note"}, SecretRefs: []string{"env:A"}}},
		"in lists":            {"elements are known by their name, else by their index", `{"l":[{"name":"x","v":{"$secret":"env:A"}},{"v":{"$secret":"env:A"}},{"name":"a[b]","v":{"$secret":"file:B"}}]}`, lists{Secret: []string{"l[name=x].v", "l[1].v", "l[2].v"}, SecretRefs: []string{"env:A", "file:B"}}},
		"key vault":           {"the address is the reference", `{"password":{"$secret":"keyvault:https://v.vault.azure.net/secrets/s"}}`, lists{Secret: []string{"password"}, SecretRefs: []string{"keyvault:https://v.vault.azure.net/secrets/s"}}},
		"misplaced secret":    {"a text of another form may be the secret itself, and is not read", `{"password":{"$secret":"hunter2"}}`, lists{Secret: []string{"password"}}},
		"no text":             {"the path is masked although nothing can be read", `{"password":{"$secret":{"env":"A"}}}`, lists{Secret: []string{"password"}}},
		"value of another":    {"a $ref with a path is no text of the manifest", `{"key":{"$ref":"/subscriptions/s","path":"password"}}`, lists{}},
		"ID below a name":     {"a $ref without a path became an ID, which stays readable", `{"key":"/subscriptions/s"}`, lists{Plain: []string{"key"}}},
		"tag":                 {"tags are public", `{"tags":{"apiKey":"x"}}`, lists{Plain: []string{"tags.apiKey"}}},
		"script":              {"a text may look like a credential", `{"script":"echo password=abcdef"}`, lists{Plain: []string{"script"}}},
		"rights":              {"rights on keys are no keys", `{"permissions":{"keys":["get"]}}`, lists{}},
		"labelled value":      {"a label makes the value secret", `{"settings":[{"name":"DB_PASSWORD","value":"x"}]}`, lists{Plain: []string{"settings[name=DB_PASSWORD].value"}}},
		"name without a path": {"what surrounds it is masked", `{"a":{"b']c":{"$secret":"env:A"}}}`, lists{Secret: []string{"a"}, SecretRefs: []string{"env:A"}}},
		"no JSON":             {"nothing can be sent either", `{"a":`, lists{}},
		"empty":               {"a delete by ID has no body", ``, lists{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forged := Desired{Body: json.RawMessage(c.body), Name: "n", Plain: []string{"password"}, Secret: []string{"b"}, SecretRefs: []string{"env:C"}}
			for _, sent := range []Desired{{Body: json.RawMessage(c.body), Name: "n"}, forged} {
				got := sent.WithSecrets()
				if diff := cmp.Diff(c.want, lists{got.Secret, got.SecretRefs, got.Plain}); diff != "" || got.Name != "n" || string(got.Body) != c.body {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
			if len(forged.Plain) != 1 || forged.Plain[0] != "password" {
				t.Error("the lists of the client were changed in place")
			}
		})
	}
}

// TestWithSecretsIsDeterministic checks that a replay computes the same lists.
func TestWithSecretsIsDeterministic(t *testing.T) {
	t.Parallel()
	sent := Desired{Body: json.RawMessage(`{"a":{"k":{"$secret":"env:A"},"l":{"$secret":"env:B"},"Name":"token","value":"x","nAme":"other"},"b":{"$secret":"env:C"},"c":{"$secret":"env:D"},"tags":{"key":"1","token":"2","pwd":"3"}}`)}
	want := sent.WithSecrets()
	for range 200 {
		if diff := cmp.Diff(want, sent.WithSecrets()); diff != "" {
			t.Fatalf("-first +later:\n%s", diff)
		}
	}
}

func BenchmarkWithSecrets(b *testing.B) {
	properties := map[string]any{"password": map[string]any{SecretMarker: "env:A"}}
	for i := range 100 {
		properties[string(rune('a'+i%26))+string(rune('a'+i/26))] = map[string]any{"name": "rule", "value": "a text of some length", "size": i}
	}
	body, err := json.Marshal(map[string]any{"properties": properties})
	if err != nil {
		b.Fatal(err)
	}
	sent := Desired{Body: body}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		sent.WithSecrets()
	}
}
