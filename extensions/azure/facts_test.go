package azure_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// TestFactsHaveSources: every fact of the table names its origin. The types are published, or
// their rows say why not: TestBuiltInEntriesAreKnown.
func TestFactsHaveSources(t *testing.T) {
	facts := azure.Facts()
	if len(facts) == 0 {
		t.Fatal("the table is empty")
	}
	for _, entry := range facts {
		for _, path := range withoutSource(reflect.ValueOf(entry.Facts), "") {
			t.Errorf("%s: %s has no source", entry.Type, path)
		}
		if _, known := types.Spelled(entry.Type); known && entry.Evidence != "" {
			t.Errorf("%s is published; its row says why not: %q", entry.Type, entry.Evidence)
		}
	}
}

// withoutSource returns the paths of the groups of facts whose Source is empty.
func withoutSource(value reflect.Value, path string) []string {
	var found []string
	switch value.Kind() {
	case reflect.Slice:
		for i := range value.Len() {
			found = append(found, withoutSource(value.Index(i), path)...)
		}
	case reflect.Struct:
		source, has := value.Type().FieldByName("Source")
		if has && !value.IsZero() {
			if value.FieldByIndex(source.Index).IsZero() {
				found = append(found, path)
			}
			return found
		}
		for i := range value.NumField() {
			found = append(found, withoutSource(value.Field(i), strings.Trim(path+"."+value.Type().Field(i).Name, "."))...)
		}
	}
	return found
}

// TestDataFacts: a row about data decides something: without it, another rule would.
func TestDataFacts(t *testing.T) {
	all := builtIn(t)
	for _, entry := range azure.Facts() {
		if entry.Facts.Data.Kind == "" {
			continue
		}
		others := slices.Clone(azure.BuiltIn())
		at := slices.IndexFunc(others, func(e extensions.Entry) bool { return e.Type == entry.Type && e.Facts.Data.Kind != "" })
		others[at].Facts.Data = extensions.Data{Source: "none"}
		without, err := extensionhost.New(others...)
		if err != nil {
			t.Fatal(err)
		}
		if all.HoldsUnlistedData(entry.Type) == without.HoldsUnlistedData(entry.Type) && all.MayHoldData(entry.Type) == without.MayHoldData(entry.Type) {
			t.Errorf("%s: the row about data changes nothing", entry.Type)
		}
	}
}

// TestPublicFacts: a public property is published, and without the row its name makes it a secret.
func TestPublicFacts(t *testing.T) {
	rows := 0
	for _, entry := range azure.Facts() {
		for _, public := range entry.Facts.Comparison.PublicPaths() {
			rows++
			path, err := resource.ParsePath(public)
			if err != nil {
				t.Fatal(err)
			}
			if found, _ := types.Lookup(entry.Type, types.Newest(entry.Type)).Find(path); len(found) == 0 {
				t.Errorf("%s: %s is not published", entry.Type, public)
			}
			if !resource.SecretName(path.LastName()) {
				t.Errorf("%s: the row about %s changes nothing", entry.Type, public)
			}
		}
	}
	if rows == 0 {
		t.Error("no row: the test compares nothing")
	}
}

// TestPurgePaths: the paths and versions of the ways to purge are published.
func TestPurgePaths(t *testing.T) {
	for _, entry := range azure.Facts() {
		way := entry.Facts.Purge
		if !way.Known() || way.Parameter != "" {
			continue
		}
		kept, err := way.Kept(mustID(t, groupID+"/providers/"+entry.Type+"/n"), "West US 2")
		if err != nil {
			t.Fatal(err)
		}
		versions := types.Versions(kept.Type())
		stable := slices.ContainsFunc(versions, func(v string) bool { return !types.Preview(v) })
		if len(versions) == 0 || stable && !slices.Contains(versions, way.APIVersion) {
			t.Errorf("%s: %s has the versions %v, not %s", entry.Type, kept.Type(), versions, way.APIVersion)
		}
	}
}
