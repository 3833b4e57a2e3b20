package resource

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSpecChanges(t *testing.T) {
	t.Parallel()
	group, err := ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1")
	if err != nil {
		t.Fatal(err)
	}
	other, err := ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg2")
	if err != nil {
		t.Fatal(err)
	}
	spec := func() Desired {
		return Desired{
			ID: group, APIVersion: "2021-04-01", Name: "rg1", Body: json.RawMessage(`{"a":1}`), Policy: PolicyProtect, Owner: group,
			Interval: time.Hour, Timeout: DefaultTimeout, Labels: map[string]string{"stack": "prod", "a.b": "c"}, Ignore: []string{"tags"},
		}
	}
	for name, c := range map[string]struct {
		reason string
		change func(d *Desired)
		want   []SpecChange
	}{
		"none":        {"an apply of the same spec changes nothing", func(*Desired) {}, nil},
		"policy":      {"manage deletes what protect keeps", func(d *Desired) { d.Policy = PolicyManage }, []SpecChange{{"reconcile.policy", `"protect"`, `"manage"`}}},
		"labels":      {"each label is a change of its own", func(d *Desired) { d.Labels = map[string]string{"stack": "test", "team": "data"} }, []SpecChange{{"labels.stack", `"prod"`, `"test"`}, {"labels.team", "absent", `"data"`}, {"labels['a.b']", `"c"`, "absent"}}},
		"ignore":      {"an ignored path is not compared any more", func(d *Desired) { d.Ignore = nil }, []SpecChange{{"reconcile.ignore", `["tags"]`, "default"}}},
		"interval":    {"0 is never", func(d *Desired) { d.Interval = 0 }, []SpecChange{{"reconcile.interval", "1h", "0"}}},
		"version":     {"another api-version is another contract", func(d *Desired) { d.APIVersion = "2024-03-01" }, []SpecChange{{"api-version", `"2021-04-01"`, `"2024-03-01"`}}},
		"owner":       {"another parent", func(d *Desired) { d.Owner = other }, []SpecChange{{"owner", `"` + group.String() + `"`, `"` + other.String() + `"`}}},
		"body":        {"the differences show what is written", func(d *Desired) { d.Body = json.RawMessage(`{"a":2}`) }, []SpecChange{{"body", bodyBefore, bodyAfter}}},
		"of the body": {"a secret has another path", func(d *Desired) { d.Secret = []string{"x"} }, []SpecChange{{"body", bodyBefore, bodyAfter}}},
		"signature":   {"each apply has a new one", func(d *Desired) { d.Signature = &Signature{Key: "k"} }, nil},
		"long": {"both sides show where they differ", func(d *Desired) { d.Ignore = []string{"tags", strings.Repeat("x", 200)} },
			[]SpecChange{{"reconcile.ignore", `["tags"]`, `["tags","` + strings.Repeat("x", 110) + "…"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := spec()
			c.change(&next)
			if diff := cmp.Diff(c.want, SpecChanges(spec(), next)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestSpecChangesSeesEveryField changes each field of a spec alone: a plan must not say that
// an apply changes nothing where it does.
func TestSpecChangesSeesEveryField(t *testing.T) {
	t.Parallel()
	id, err := ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1")
	if err != nil {
		t.Fatal(err)
	}
	fields := reflect.TypeFor[Desired]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if field.Name == "Signature" {
			continue
		}
		var next Desired
		value := reflect.ValueOf(&next).Elem().Field(i)
		switch field.Type {
		case reflect.TypeFor[ID]():
			value.Set(reflect.ValueOf(id))
		default:
			fill(t, value)
		}
		if len(SpecChanges(Desired{}, next)) == 0 {
			t.Errorf("a change of %s is not seen", field.Name)
		}
	}
}

// fill gives a value something else than its zero value.
func fill(t *testing.T, value reflect.Value) {
	t.Helper()
	switch value.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Int64, reflect.Int:
		value.SetInt(int64(time.Minute))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		key, member := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		fill(t, key)
		fill(t, member)
		value.SetMapIndex(key, member)
	case reflect.Slice:
		if value.Type() == reflect.TypeFor[json.RawMessage]() {
			value.SetBytes([]byte(`{"x":1}`))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		if value.Type().Elem().Kind() != reflect.Struct {
			fill(t, value.Index(0))
		}
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Field(i).CanSet() {
				fill(t, value.Field(i))
			}
		}
	default:
		t.Fatalf("a value of %s", value.Type())
	}
}
