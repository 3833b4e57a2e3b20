package report

import (
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/types"
)

// describe returns the sentence about a rule that code scanning shows.
func describe(rule types.Rule) string {
	if text, found := descriptions()[rule]; found {
		return text
	}
	return string(rule)
}

// descriptions has a sentence for every rule.
func descriptions() map[types.Rule]string {
	return map[types.Rule]string{
		manifest.InvalidManifest:   "The manifest cannot be read or contradicts itself.",
		manifest.UnknownType:       "The resource type is not published.",
		manifest.UnknownVersion:    "The type is not published in this api-version.",
		manifest.TypeNotWritable:   "The resource type cannot be written.",
		manifest.WrongScope:        "The resource type does not exist under this kind of owner.",
		manifest.InvalidName:       "The resource type does not take this name.",
		manifest.UnknownAction:     "An export names an action that the type lacks, or that may not be repeated.",
		manifest.InvalidAddress:    "Azure refuses the address or range: it cannot be, or contradicts another one.",
		manifest.UnknownMarker:     "The property resembles a marker of Armature.",
		manifest.OpenName:          "The name has no manifest here; a managed resource may have it.",
		manifest.LiteralSecret:     "The type publishes the text as a secret.",
		manifest.OwnedValue:        "The value belongs to a switch that is on: another owner moves it after the creation.",
		manifest.ReleaseValue:      "Releases outside of the manifest may set the value.",
		Drift:                      "A value in Azure differs from the recorded spec.",
		Foreign:                    "A value that no manifest contains changed since the last PUT.",
		NotInSync:                  "A pass would create, update or replace the resource, or is blocked.",
		NotCompared:                "The resource could not be compared.",
		types.UnknownProperty:      "The type does not have this property.",
		types.MisplacedProperty:    "The property belongs one level up or down.",
		types.LetterCase:           "The name or value is published with other letter case.",
		types.WrongKind:            "The value is of another kind than published.",
		types.NumberAsText:         "A number is written as a text.",
		types.ValueNotAllowed:      "The value is not among the published ones.",
		types.OutOfBounds:          "The number, length or count is out of its bounds.",
		types.PatternMismatch:      "The text does not match the published pattern.",
		types.MissingProperty:      "A required property is missing.",
		types.ReadOnlyProperty:     "The property is set by Azure.",
		types.UnknownDiscriminator: "The value that selects the form of an object is not published.",
		types.TooDeep:              "The value is nested too deep to be checked.",
	}
}
