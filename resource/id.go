package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	azcorearm "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
)

// Types of the ARM containers, in azcore's spelling, and of management locks.
const (
	TypeTenant          = "Microsoft.Resources/tenants"
	TypeSubscription    = "Microsoft.Resources/subscriptions"
	TypeResourceGroup   = "Microsoft.Resources/resourceGroups"
	TypeLock            = "Microsoft.Authorization/locks"
	TypeManagementGroup = "Microsoft.Management/managementGroups"
)

// Limits of a workflow ID in bytes. SQL stores of Temporal accept 255 characters
// (PostgreSQL hangs on a longer one), so a longer resource ID is cut and hashed.
const (
	maxWorkflowIDBytes    = 200
	workflowIDPrefixBytes = 150
	workflowIDSumBytes    = 16
)

// ID is a well-formed ARM resource ID, for example
// /subscriptions/{guid}/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/c1.
// The zero ID means "none". IDs compare ignoring case: use Equal or Key, not ==.
type ID struct {
	parsed *azcorearm.ResourceID
}

// ParseID parses a resource ID. It also refuses IDs that azcore's parser accepts:
// segments that are empty, ".", ".." or contain a character with which the URL
// would address another resource.
func ParseID(s string) (ID, error) {
	if !strings.HasPrefix(s, "/") {
		return ID{}, fmt.Errorf("parse resource ID %q: it must start with /", s)
	}
	for _, segment := range strings.Split(s[1:], "/") {
		if err := CheckSegment(segment); err != nil {
			return ID{}, fmt.Errorf("parse resource ID %q: %w", s, err)
		}
	}
	parsed, err := azcorearm.ParseResourceID(s)
	if err != nil {
		return ID{}, fmt.Errorf("parse resource ID %q: it is not an ARM resource ID; write it like /subscriptions/<GUID>/resourceGroups/<name>/providers/<provider>/<type>/<name>", s)
	}
	if parsed.Name == "" || parsed.ResourceType.String() == azcorearm.ProviderResourceType.String() {
		return ID{}, fmt.Errorf("parse resource ID %q: it names a type or a provider, not a resource", s)
	}
	return ID{parsed: parsed}, nil
}

// CheckSegment returns an error if a text cannot be a segment of a resource ID.
// ARM's URLs are built from segments, so a separator, a dot segment or a control
// character would address another resource.
func CheckSegment(segment string) error {
	switch {
	case segment == "":
		return fmt.Errorf("a segment is empty")
	case segment == "." || segment == "..":
		return fmt.Errorf("the segment %q is not allowed", segment)
	case strings.TrimSpace(segment) != segment:
		return fmt.Errorf("the segment %q starts or ends with white space", segment)
	case !utf8.ValidString(segment):
		return fmt.Errorf("the segment %q is not valid UTF-8", segment)
	}
	for _, r := range segment {
		if strings.ContainsRune(`/\?#%`, r) || unicode.IsControl(r) {
			return fmt.Errorf("the segment %q contains %q; / \\ ? # %% and control characters are not allowed", segment, r)
		}
	}
	return nil
}

// IsZero reports whether the ID is "none".
func (id ID) IsZero() bool { return id.parsed == nil }

// String returns the ID in its original spelling, "" for none.
func (id ID) String() string {
	if id.parsed == nil {
		return ""
	}
	return id.parsed.String()
}

// Key returns the lower-cased ID, which is equal for IDs of the same resource.
func (id ID) Key() string { return lowerCase(id.String()) }

// lowerCase returns a text in lower case. The two letters beyond ASCII whose lower case is
// in ASCII stay: for ARM the Kelvin sign is no k, and one workflow must not serve two
// resources.
func lowerCase(text string) string {
	const kelvin, dottedI = "\u212a", "\u0130"
	if !strings.Contains(text, kelvin) && !strings.Contains(text, dottedI) {
		return strings.ToLower(text)
	}
	return strings.Map(func(r rune) rune {
		if lower := unicode.ToLower(r); r <= unicode.MaxASCII || lower > unicode.MaxASCII {
			return lower
		}
		return r
	}, text)
}

// Equal reports whether two IDs are equal ignoring case, as in ARM.
func (id ID) Equal(other ID) bool { return id.Key() == other.Key() }

// Type returns the full resource type, for example
// Microsoft.Kusto/clusters/databases.
func (id ID) Type() string {
	if id.parsed == nil {
		return ""
	}
	return id.parsed.ResourceType.String()
}

// Provider returns the namespace of the type, for example Microsoft.Kusto.
func (id ID) Provider() string {
	if id.parsed == nil {
		return ""
	}
	return id.parsed.ResourceType.Namespace
}

// Name returns the last segment.
func (id ID) Name() string {
	if id.parsed == nil {
		return ""
	}
	return id.parsed.Name
}

// Subscription returns the GUID of the subscription, "" above subscriptions.
func (id ID) Subscription() string {
	if id.parsed == nil {
		return ""
	}
	return id.parsed.SubscriptionID
}

// ResourceGroup returns the name of the resource group, or "".
func (id ID) ResourceGroup() string {
	if id.parsed == nil {
		return ""
	}
	return id.parsed.ResourceGroupName
}

// Owner returns the parent in ARM: the parent resource, the resource group or
// subscription, the scope of an extension resource. It returns the zero ID at a
// root.
func (id ID) Owner() ID {
	if id.parsed == nil || id.parsed.Parent == nil || id.parsed.Parent.Parent == nil {
		return ID{}
	}
	return ID{parsed: id.parsed.Parent}
}

// IsContainer reports whether the ID is a tenant, management group, subscription or
// resource group: a scope without a state that could refuse its children (a
// resource group only while it is deleted).
func (id ID) IsContainer() bool {
	switch t := id.Type(); {
	case strings.EqualFold(t, TypeResourceGroup), strings.EqualFold(t, TypeSubscription),
		strings.EqualFold(t, TypeManagementGroup), strings.EqualFold(t, TypeTenant):
		return true
	}
	return false
}

// IsChild reports whether the resource's type is nested in its owner's type (a
// database in its cluster), unlike a top-level resource in a group or an extension
// resource on a scope (a role assignment on a storage account).
func (id ID) IsChild() bool {
	owner := id.Owner()
	if owner.IsZero() || owner.IsContainer() {
		return false
	}
	rest := id.String()[len(owner.String()):]
	return !strings.HasPrefix(strings.ToLower(rest), "/providers/")
}

// WorkflowID returns the ID of the resource's workflow: the lower-cased resource ID
// with bytes other than printable ASCII percent-encoded. Beyond 200 bytes it is the
// first 150 bytes, "~" and 32 hex digits of the SHA-256.
func (id ID) WorkflowID() string {
	key := printable(id.Key())
	if len(key) <= maxWorkflowIDBytes {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return key[:workflowIDPrefixBytes] + "~" + hex.EncodeToString(sum[:workflowIDSumBytes])
}

// ParseWorkflowID returns the resource of a workflow, in lower case. It returns an error for
// the ID of any other workflow, and for a long one, which has only the beginning of the
// resource ID.
func ParseWorkflowID(workflowID string) (ID, error) {
	text, err := url.PathUnescape(workflowID)
	if err != nil {
		return ID{}, fmt.Errorf("parse the workflow ID %q: %w", workflowID, err)
	}
	id, err := ParseID(text)
	isCut := len(workflowID) == workflowIDPrefixBytes+1+2*workflowIDSumBytes && workflowID[workflowIDPrefixBytes] == '~'
	if err == nil && (isCut || id.WorkflowID() != workflowID) {
		err = fmt.Errorf("parse the workflow ID %q: it is not the ID of a resource", workflowID)
	}
	if err != nil {
		return ID{}, err
	}
	return id, nil
}

// WorkflowIDPrefix returns the text with which the workflow IDs of all resources below
// this one begin. Where it is cut, those of other resources begin with it too.
func (id ID) WorkflowIDPrefix() string {
	prefix := printable(id.Key()) + "/"
	return prefix[:min(len(prefix), workflowIDPrefixBytes)]
}

// printable percent-encodes every byte that is not printable ASCII, because the SDK
// sends workflow IDs in a gRPC header. An ID contains no %, so different IDs remain
// different.
func printable(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c >= ' ' && c <= '~' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

// Short returns the short name for people: the names below the provider ("c1/db1"),
// or the last name.
func (id ID) Short() string {
	name := id.Name()
	for at := id; at.IsChild(); {
		at = at.Owner()
		name = at.Name() + "/" + name
	}
	return name
}

// MarshalText returns the ID as its string.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses the ID; an empty text is the zero ID.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = ID{}
		return nil
	}
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
