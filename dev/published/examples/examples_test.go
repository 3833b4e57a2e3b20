package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sdkSource = `package armx

const (
	KindBig Kind = "Big"
	modeFixed Mode = "fixed"
)

type Thing struct {
	Kind                 *Kind
	Location             *string
	Name                 *string
	Properties           ThingPropertiesClassification
}

func (t Thing) MarshalJSON() ([]byte, error) {
	objectMap := make(map[string]any)
	populate(objectMap, "kind", t.Kind)
	populate(objectMap, "location", t.Location)
	populate(objectMap, "name", t.Name)
	populate(objectMap, "properties", t.Properties)
	return json.Marshal(objectMap)
}

type BigProperties struct {
	AdditionalProperties map[string]any
	Items                []*Item
	Limits               map[string]*Item
	Mode                 *Mode
	Until                *time.Time
}

func (b BigProperties) MarshalJSON() ([]byte, error) {
	objectMap := make(map[string]any)
	populate(objectMap, "items", b.Items)
	populate(objectMap, "limits", b.Limits)
	objectMap["mode"] = "fixed"
	populateDateTimeRFC3339(objectMap, "untilUTC", b.Until)
	if b.AdditionalProperties != nil {
		for key, val := range b.AdditionalProperties {
			objectMap[key] = val
		}
	}
	return json.Marshal(objectMap)
}

type Item struct {
	Count *int32
	On    *bool
}

func (i Item) MarshalJSON() ([]byte, error) {
	objectMap := make(map[string]any)
	populate(objectMap, "count", i.Count)
	populate(objectMap, "isOn", i.On)
	return json.Marshal(objectMap)
}

func (client *ThingsClient) createCreateRequest(ctx context.Context, group string, name string, parameters Thing, _ *ThingsClientBeginCreateOptions) (*policy.Request, error) {
	urlPath := "/subscriptions/{subscriptionId}/resourceGroups/{group}/providers/microsoft.X/things/{name}"
	req, err := runtime.NewRequest(ctx, http.MethodPut, runtime.JoinPaths(client.internal.Endpoint(), urlPath))
	reqQP.Set("api-version", "2024-01-01")
	return req, runtime.MarshalAsJSON(req, parameters)
}

func (client *ThingsClient) updateCreateRequest(ctx context.Context, name string, parameters Thing, _ *Options) (*policy.Request, error) {
	urlPath := "/providers/Microsoft.X/things/{name}"
	req, err := runtime.NewRequest(ctx, http.MethodPatch, runtime.JoinPaths(client.internal.Endpoint(), urlPath))
	reqQP.Set("api-version", "2024-01-01")
	return req, runtime.MarshalAsJSON(req, parameters)
}

func (client *PartsClient) setCreateRequest(ctx context.Context, thing string, options *PartsClientSetOptions) (*policy.Request, error) {
	urlPath := "/providers/Microsoft.X/things/{thing}/parts/default"
	req, err := runtime.NewRequest(ctx, http.MethodPut, runtime.JoinPaths(client.internal.Endpoint(), urlPath))
	reqQP.Set("api-version", "2024-01-01")
	return req, runtime.MarshalAsJSON(req, *options.Part)
}
`

const published = `{"$type":"ResourceType","name":"Microsoft.X/things@2024-01-01","writableScopes":8}
{"$type":"ResourceType","name":"Microsoft.X/things/parts@2024-01-01","writableScopes":8}
{"$type":"ResourceType","name":"Microsoft.X/things/parts@2023-01-01","writableScopes":8}
`

func TestRun(t *testing.T) {
	const origin = "// Generated from example definition: https://github.com/Azure/specs/blob/main/A.json\nfunc ExampleA() {\n"
	cases := map[string]struct {
		reason, example, want, note string
	}{
		"nested values": {
			reason: "names come from MarshalJSON, nil is not sent, and name is not part of a body",
			example: `clientFactory.NewThingsClient().BeginCreate(ctx, "g", "n", armx.Thing{
				Kind: to.Ptr(armx.KindBig), Location: nil, Name: to.Ptr("n"),
				Properties: &armx.BigProperties{
					AdditionalProperties: map[string]any{"more": float64(-5)},
					Items: []*armx.Item{{Count: to.Ptr[int32](3)}, {On: to.Ptr(false)}},
					Limits: map[string]*armx.Item{"a": {Count: to.Ptr[int32](1)}},
					Mode: to.Ptr(armx.Mode("fixed")),
					Until: to.Ptr(func() time.Time { t, _ := time.Parse(time.RFC3339Nano, "2020-01-01T00:00:00.0Z"); return t }()),
				},
			}, nil)`,
			want: `{"type":"Microsoft.X/things","version":"2024-01-01","source":"Azure/specs/blob/main/A.json","body":` +
				`{"kind":"Big","properties":{"items":[{"count":3},{"isOn":false}],"limits":{"a":{"count":1}},` +
				`"mode":"fixed","more":-5,"untilUTC":"2020-01-01T00:00:00.0Z"}}}`,
			note: "kept         1",
		},
		"body in the options": {
			reason: "an optional body is a field of the options; this example has a variable for the client",
			example: `client, err := armx.NewPartsClient("s", cred, nil)
				client.Set(ctx, "t", &armx.PartsClientSetOptions{Part: &armx.Item{On: to.Ptr(true)}})`,
			want: `{"type":"Microsoft.X/things/parts","version":"2024-01-01","source":"Azure/specs/blob/main/A.json","body":{"isOn":true}}`,
			note: "kept         1",
		},
		"patch": {
			reason:  "the body of a PATCH is not a whole body",
			example: `clientFactory.NewThingsClient().Update(ctx, "n", armx.Thing{Location: to.Ptr("westus")}, nil)`,
			note:    "kept         0",
		},
		"unknown constant": {
			reason:  "a body that cannot be evaluated is left out and counted, never guessed",
			example: `clientFactory.NewThingsClient().BeginCreate(ctx, "g", "n", armx.Thing{Kind: to.Ptr(armx.KindSmall)}, nil)`,
			note:    "left out     1: not evaluated: constant KindSmall is not declared",
		},
		"only a name": {
			reason:  "nothing is left of a body that states its name alone",
			example: `clientFactory.NewThingsClient().BeginCreate(ctx, "g", "n", armx.Thing{Name: to.Ptr("n")}, nil)`,
			note:    "left out     1: empty body",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			writeFile(t, filepath.Join(folder, "things.go"), sdkSource)
			writeFile(t, filepath.Join(folder, "a_test.go"), "package armx_test\n\n"+origin+c.example+"\n}\n")
			var out, notes bytes.Buffer
			if err := run([]string{folder}, strings.NewReader(published), &out, &notes); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, strings.TrimSpace(out.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if !strings.Contains(notes.String(), c.note) {
				t.Errorf("%s: notes are %q, want %q", c.reason, notes.String(), c.note)
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestResourceType(t *testing.T) {
	cases := map[string]struct{ reason, path, want string }{
		"child":             {"types and names alternate", "/subscriptions/{s}/resourceGroups/{g}/providers/Microsoft.X/as/{a}/bs/{b}", "Microsoft.X/as/bs"},
		"fixed name":        {"a singleton's name is fixed", "/{scope}/providers/Microsoft.X/as/default", "Microsoft.X/as"},
		"extension":         {"the last provider counts", "/providers/Microsoft.Y/ys/{y}/providers/Microsoft.X/as/{a}", "Microsoft.X/as"},
		"variable type":     {"one path serves several types", "/subscriptions/{s}/providers/Microsoft.X/{kind}/{a}", ""},
		"collection":        {"a name is missing", "/subscriptions/{s}/providers/Microsoft.X/as", ""},
		"without providers": {"the path of a resource group has none", "/subscriptions/{s}/resourcegroups/{g}", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := resourceType(c.path); got != c.want {
				t.Errorf("%s: resourceType(%q) = %q, want %q", c.reason, c.path, got, c.want)
			}
		})
	}
}
