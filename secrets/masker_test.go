package secrets

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// decode returns a body from JSON; M(x) in a text means the mask of x.
func decode(t *testing.T, m *Masker, text string) map[string]any {
	t.Helper()
	body, err := resource.DecodeBody([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return expand(m, body).(map[string]any)
}

func expand(m *Masker, value any) any {
	switch at := value.(type) {
	case map[string]any:
		for name, child := range at {
			at[name] = expand(m, child)
		}
	case []any:
		for i, child := range at {
			at[i] = expand(m, child)
		}
	case string:
		if inner, found := strings.CutPrefix(at, "M("); found {
			return m.Value(strings.TrimSuffix(inner, ")"))
		}
	}
	return value
}

func TestMask(t *testing.T) {
	cases := map[string]struct {
		reason   string
		kind     string
		observed string
		plain    []string
		want     string
	}{
		"Name":           {reason: "a property with a secret name", observed: `{"properties":{"primaryKey":"abc","endpoint":"x"}}`, want: `{"properties":{"primaryKey":"M(abc)","endpoint":"x"}}`},
		"Empty":          {reason: "an empty text hides nothing", observed: `{"password":""}`, want: `{"password":""}`},
		"NoText":         {reason: "numbers, booleans and null stay", observed: `{"password":null,"key":1.0,"token":true}`, want: `{"password":null,"key":1.0,"token":true}`},
		"List":           {reason: "texts in a list under such a name", observed: `{"keys":["a","b"]}`, want: `{"keys":["M(a)","M(b)"]}`},
		"Filter":         {reason: "an advanced filter names the field to compare", observed: `{"advancedFilters":[{"operatorType":"StringIn","key":"data.color","values":["red"]}]}`, want: `{"advancedFilters":[{"operatorType":"StringIn","key":"data.color","values":["red"]}]}`},
		"Index":          {reason: "the fields of an index of MongoDB", observed: `{"indexes":[{"key":{"keys":["_id"]}}]}`, want: `{"indexes":[{"key":{"keys":["_id"]}}]}`},
		"Account":        {reason: "the key of an account has no member beside it that it names", observed: `{"storageaccounts":[{"name":"s","key":"abc"}]}`, want: `{"storageaccounts":[{"name":"s","key":"M(abc)"}]}`},
		"KeyList":        {reason: "the keys of a storage account: only the value", observed: `{"keys":[{"keyName":"key1","value":"abc","permissions":"FULL"}]}`, want: `{"keys":[{"keyName":"key1","value":"M(abc)","permissions":"FULL"}]}`},
		"Rights":         {reason: "permissions on keys are not keys", observed: `{"permissions":{"keys":["get"],"secrets":["list"]}}`, want: `{"permissions":{"keys":["get"],"secrets":["list"]}}`},
		"Nested":         {reason: "a value two levels below such a name", observed: `{"secrets":{"first":{"value":"abc"}}}`, want: `{"secrets":{"first":{"value":"M(abc)"}}}`},
		"Setting":        {reason: "a setting with a secret label", observed: `{"env":[{"name":"DB_PASSWORD","value":"abc"},{"name":"REGION","value":"x"}]}`, want: `{"env":[{"name":"DB_PASSWORD","value":"M(abc)"},{"name":"REGION","value":"x"}]}`},
		"Vault":          {reason: "a reference to a vault is not a secret", observed: `{"password":"@Microsoft.KeyVault(SecretUri=https://v)"}`, want: `{"password":"@Microsoft.KeyVault(SecretUri=https://v)"}`},
		"Connection":     {reason: "a connection string under a harmless name", observed: `{"storage":"AccountName=a;AccountKey=abcd=="}`, want: `{"storage":"M(AccountName=a;AccountKey=abcd==)"}`},
		"Tags":           {reason: "a foreign tag with a secret name", observed: `{"tags":{"apiKey":"abc","env":"x"}}`, want: `{"tags":{"apiKey":"M(abc)","env":"x"}}`},
		"TagPlain":       {reason: "a tag that the manifest states in plain", observed: `{"tags":{"apiKey":"abc"}}`, plain: []string{"tags.apiKey"}, want: `{"tags":{"apiKey":"abc"}}`},
		"TagCase":        {reason: "ARM's names ignore case", observed: `{"Tags":{"APIKey":"abc"}}`, plain: []string{"tags.apiKey"}, want: `{"Tags":{"APIKey":"abc"}}`},
		"TagDotted":      {reason: "a tag with dots is addressed by its quoted name", observed: `{"tags":{"a.b/key":"abc"}}`, plain: []string{"tags['a.b/key']"}, want: `{"tags":{"a.b/key":"abc"}}`},
		"PlainID":        {reason: "a reference that was resolved to a resource ID", observed: `{"key":"/subscriptions/s/resourceGroups/g"}`, plain: []string{"key"}, want: `{"key":"/subscriptions/s/resourceGroups/g"}`},
		"PlainNoID":      {reason: "a secret in place of a reference", observed: `{"key":"abc"}`, plain: []string{"key"}, want: `{"key":"M(abc)"}`},
		"PlainForm":      {reason: "a text that only looks like a credential, stated in plain", observed: `{"l":[{"name":"a","script":"x password=hunter22"},{"name":"b","script":"x password=hunter22"}]}`, plain: []string{"l[name=a].script"}, want: `{"l":[{"name":"a","script":"x password=hunter22"},{"name":"b","script":"M(x password=hunter22)"}]}`},
		"Published":      {reason: "the type publishes the value as a secret", kind: "microsoft.eventgrid/EventSubscriptions", observed: `{"properties":{"destination":{"endpointType":"WebHook","properties":{"endpointUrl":"https://x?code=1"}}}}`, want: `{"properties":{"destination":{"endpointType":"WebHook","properties":{"endpointUrl":"M(https://x?code=1)"}}}}`},
		"PublishedIn":    {reason: "every text in an object that the type publishes as a secret, also in lists", kind: "Microsoft.Datadog/monitors", observed: `{"properties":{"userInfo":{"emailAddress":"a@b","names":["c",1]}}}`, want: `{"properties":{"userInfo":{"emailAddress":"M(a@b)","names":["M(c)",1]}}}`},
		"PublishedItem":  {reason: "a secret in the items of a list", kind: "Microsoft.ContainerInstance/containerGroups", observed: `{"properties":{"containers":[{"name":"a","properties":{"environmentVariables":[{"name":"X","secureValue":"s","value":"v"}]}}]}}`, want: `{"properties":{"containers":[{"name":"a","properties":{"environmentVariables":[{"name":"X","secureValue":"M(s)","value":"v"}]}}]}}`},
		"PublishedID":    {reason: "a resource ID is not a secret", kind: "Microsoft.ContainerInstance/containerGroups", observed: `{"properties":{"diagnostics":{"logAnalytics":{"workspaceResourceId":"/subscriptions/s/resourceGroups/g"}}}}`, want: `{"properties":{"diagnostics":{"logAnalytics":{"workspaceResourceId":"/subscriptions/s/resourceGroups/g"}}}}`},
		"PublishedOther": {reason: "another type does not publish it", kind: "Microsoft.Storage/storageAccounts", observed: `{"properties":{"userInfo":{"emailAddress":"a@b"},"primaryKey":"k"}}`, want: `{"properties":{"userInfo":{"emailAddress":"a@b"},"primaryKey":"M(k)"}}`},
		"Protected":      {reason: "everything in protected settings", observed: `{"protectedSettings":{"commandToExecute":"abc","n":{"a":["b"]}},"settings":{"commandToExecute":"abc"}}`, want: `{"protectedSettings":{"commandToExecute":"M(abc)","n":{"a":["M(b)"]}},"settings":{"commandToExecute":"abc"}}`},
		"Forms":          {reason: "a token and an address of a hook under harmless names", observed: `{"a":"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln","b":"https://hooks.chat.example/services/T1/B1/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G"}`, want: `{"a":"M(eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln)","b":"M(https://hooks.chat.example/services/T1/B1/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G)"}`},
		"PlainAbove":     {reason: "a plain path elsewhere has no effect", observed: `{"a":{"key":"abc"}}`, plain: []string{"a.keyName", "key"}, want: `{"a":{"key":"M(abc)"}}`},
	}
	m := NewMasker([]byte("0123456789abcdef"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := decode(t, m, tc.observed)
			got := m.Mask(tc.kind, observed, tc.plain)
			if diff := cmp.Diff(decode(t, m, tc.want), got); diff != "" {
				t.Errorf("\n%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(got, m.Mask(tc.kind, got, tc.plain)); diff != "" {
				t.Errorf("\n%s\nmasking twice -once +twice:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(decode(t, m, tc.observed), observed); diff != "" {
				t.Errorf("\n%s\nthe observed body changed:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMaskPublic checks that values at public paths of a type stay, and no others.
func TestMaskPublic(t *testing.T) {
	m := NewMasker([]byte("0123456789abcdef")).WithPublic(func(resourceType string) []string {
		if resourceType == "Contoso.Things/domains" {
			return []string{"properties.proof.validationToken"}
		}
		return nil
	})
	const observed = `{"properties":{"proof":{"validationToken":"_abc","accessToken":"x"},"validationToken":"y"}}`
	want := map[string]string{
		"Contoso.Things/domains": `{"properties":{"proof":{"validationToken":"_abc","accessToken":"M(x)"},"validationToken":"M(y)"}}`,
		"Contoso.Things/others":  `{"properties":{"proof":{"validationToken":"M(_abc)","accessToken":"M(x)"},"validationToken":"M(y)"}}`,
	}
	for kind, masked := range want {
		if diff := cmp.Diff(decode(t, m, masked), m.Mask(kind, decode(t, m, observed), nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// TestMaskCopiesLittle checks that a body without a secret is not copied, and that
// otherwise only the objects and lists on the way to the secret are.
func TestMaskCopiesLittle(t *testing.T) {
	m := NewMasker([]byte("0123456789abcdef"))
	observed := decode(t, m, `{"properties":{"password":"abc"},"settings":{"list":[{"a":"b"}]}}`)
	same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	if got := m.MaskPaths(m.MaskValues(observed, []string{"none"}), nil); !same(got, observed) {
		t.Error("a body in which nothing is masked was copied")
	}
	masked := m.Mask("", observed, nil)
	if same(masked, observed) || same(masked["properties"], observed["properties"]) || !same(masked["settings"], observed["settings"]) {
		t.Error("want a copy of the body and of its properties, and the settings shared")
	}
}

func TestMaskPaths(t *testing.T) {
	cases := map[string]struct {
		reason string
		paths  []string
		want   string
	}{
		"Path":    {reason: "a $secret under a harmless name", paths: []string{"properties.value"}, want: `{"properties":{"value":"M(abc)","list":[{"name":"a","x":"1"},{"name":"b","x":"2"}]}}`},
		"Element": {reason: "an element by its name", paths: []string{"properties.list[name=b].x"}, want: `{"properties":{"value":"abc","list":[{"name":"a","x":"1"},{"name":"b","x":"M(2)"}]}}`},
		"Index":   {reason: "servers reorder lists, so an index masks every element", paths: []string{"properties.list[0].x"}, want: `{"properties":{"value":"abc","list":[{"name":"a","x":"M(1)"},{"name":"b","x":"M(2)"}]}}`},
		"Below":   {reason: "everything below is masked too", paths: []string{"properties.list[name=b]"}, want: `{"properties":{"value":"abc","list":[{"name":"a","x":"1"},{"name":"M(b)","x":"M(2)"}]}}`},
		"Absent":  {reason: "write-only properties are absent from a GET", paths: []string{"properties.password", "other"}, want: `{"properties":{"value":"abc","list":[{"name":"a","x":"1"},{"name":"b","x":"2"}]}}`},
	}
	m := NewMasker([]byte("0123456789abcdef"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := decode(t, m, `{"properties":{"value":"abc","list":[{"name":"a","x":"1"},{"name":"b","x":"2"}]}}`)
			if diff := cmp.Diff(decode(t, m, tc.want), m.MaskPaths(observed, tc.paths)); diff != "" {
				t.Errorf("\n%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMaskValues(t *testing.T) {
	m := NewMasker([]byte("0123456789abcdef"))
	observed := decode(t, m, `{"a":"s3cret!","b":["x s3cret! y"],"c":"ab","d":"abc","e":"other"}`)
	want := decode(t, m, `{"a":"M(s3cret!)","b":["M(x s3cret! y)"],"c":"M(ab)","d":"abc","e":"other"}`)
	if diff := cmp.Diff(want, m.MaskValues(observed, []string{"", "ab", "s3cret!"})); diff != "" {
		t.Errorf("a known value is masked, a short one only as a whole\n-want +got:\n%s", diff)
	}
}

func TestValue(t *testing.T) {
	one, other := NewMasker([]byte("0123456789abcdef")), NewMasker([]byte("fedcba9876543210"))
	mask := one.Value("abc")
	if len(mask) != len(resource.MaskPrefix)+16 || !resource.Masked(mask) || strings.Contains(mask, "abc") {
		t.Errorf("the mask is %q", mask)
	}
	if one.Value("abc") != mask || one.Value("abd") == mask || other.Value("abc") == mask {
		t.Error("a mask depends on the value and the key and on nothing else")
	}
	if one.Value(mask) != mask || one.Value(resource.MaskPrefix+"abc") == resource.MaskPrefix+"abc" {
		t.Error("only the exact form of a mask is left alone")
	}
}

func TestText(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		values []string
		want   string
	}{
		"Plain":      {reason: "the plain value", text: `bad password "p4ss/word+1"`, values: []string{"p4ss/word+1"}, want: `bad password "(masked)"`},
		"JSON":       {reason: "the JSON form, with < escaped or not", text: `{"v":"a\"b\\c<d"}` + ` {"v":"a\"b\\c\u003cd"}`, values: []string{`a"b\c<d`}, want: `{"v":"(masked)"} {"v":"(masked)"}`},
		"URL":        {reason: "the URL form", text: "https://x?p=p4ss%2Fword%2B1", values: []string{"p4ss/word+1"}, want: "https://x?p=(masked)"},
		"Base64":     {reason: "the base64 form", text: "x cDRzcy93b3JkKzE= y", values: []string{"p4ss/word+1"}, want: "x (masked) y"},
		"Base64URL":  {reason: "without padding, and with the alphabet of URLs", text: "x fn5-fj8_Pw y", values: []string{"~~~~???"}, want: "x (masked) y"},
		"Hex":        {reason: "hexadecimal digits in both cases", text: "7034737 70347373776f7264 70347373776F7264", values: []string{"p4ssword"}, want: "7034737 (masked) (masked)"},
		"UTF16":      {reason: "base64 of UTF-16", text: "x cAA0AHMAcwA= y", values: []string{"p4ss"}, want: "x (masked) y"},
		"URLTwice":   {reason: "a URL in a URL", text: "p4ss%252Fword", values: []string{"p4ss/word"}, want: "(masked)"},
		"Case":       {reason: "a service that folds case", text: "bad P4SSWORD-X", values: []string{"p4ssword-x"}, want: "bad (masked)"},
		"Overlap":    {reason: "the longer of two values is replaced first", text: "abcdef", values: []string{"abcd", "abcdef"}, want: "(masked)"},
		"Short":      {reason: "a short value would mask every text", text: "a banana", values: []string{"a"}, want: "a banana"},
		"ShortWhole": {reason: "unless it is the whole text", text: "a", values: []string{"a"}, want: "(masked)"},
		"Connection": {reason: "an unknown credential", text: "cannot use AccountKey=abcdefgh;x", want: "cannot use AccountKey=(masked);x"},
		"Nothing":    {reason: "an ordinary text stays", text: "the resource is not found", values: []string{"", "p4ss"}, want: "the resource is not found"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Scrub(tc.text, tc.values); got != tc.want {
				t.Errorf("\n%s\n got %q\nwant %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestMaskKeepsNil(t *testing.T) {
	m := NewMasker(nil)
	if m.Mask("", nil, nil) != nil || m.MaskPaths(nil, nil) != nil || m.MaskValues(nil, nil) != nil {
		t.Error("an absent resource stays nil")
	}
	raw, err := json.Marshal(m.Mask("", map[string]any{"a": []any{}, "b": map[string]any{}}, nil))
	if err != nil || string(raw) != `{"a":[],"b":{}}` {
		t.Errorf("empty values became %s (%v)", raw, err)
	}
}
